// report/exporters/blocks.cpp — every block as comma-separated values, for tables and notebooks.
#include <unordered_map>

#include <fmt/format.h>

#include "report/exporters/block_lives.hpp"
#include "report/exporters/written_export.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

class BlocksFile : public BlockLives {
public:
    BlocksFile(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options,
               Symbolizer& symbolizer)
        : BlockLives(log, options, symbolizer), pieces_(sink)
    {
    }

    void write()
    {
        pieces_.text =
            std::string(kOwnBlocksHead) +
            "bytes,address,memory,device,tid,phase,api,function,file,line,fingerprint,stack\n";
        read_blocks();
        pieces_.give_rest();
    }

private:
    void show(const Block& block, const std::string& phase, const char* end,
              std::optional<std::uint64_t> until_ns) override
    {
        pieces_.text +=
            fmt::format("{},{},{},{},{:#x},{},{},{},{},{}\n", reading().ns(block.ticks),
                        until_ns ? std::to_string(*until_ns) : "", end, block.bytes, block.address,
                        name(block.memory), block.device < 0 ? "" : std::to_string(block.device),
                        tid_of(block), csv_text(phase), place_of_site(block.site));
        pieces_.give_piece();
    }

    // The end of the lines of its blocks.
    const std::string& place_of_site(SiteId number)
    {
        std::string& text = places_[number];
        if (!text.empty())
            return text;
        const Site& site = reading().replay().sites()[number];
        const CallPlace place = stacks().read(site.api, site.stack, site.last_ticks);
        const Frame* const own = place.own_frame();
        std::string stack;
        for (const Frame& frame : place.stack) {
            const std::string where = place_of(frame);
            stack += (stack.empty() ? "" : "; ") +
                     (frame.function.empty() ? function_of(frame) : frame.function) +
                     (where.empty() ? "" : " ") + where;
        }
        text = fmt::format("{},{},{},{},{},{}", csv_text(place.api),
                           csv_text(own ? own->function : ""), csv_text(own ? own->file : ""),
                           own && own->line > 0 ? std::to_string(own->line) : "", place.fingerprint,
                           csv_text(stack));
        return text;
    }

    TextPieces pieces_;
    std::unordered_map<SiteId, std::string> places_;
};

} // namespace

void export_blocks(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    Symbolizer symbolizer(options.symbols);
    BlocksFile(log, sink, options, symbolizer).write();
    if (options.unread_files)
        options.unread_files(symbolizer.unread_files());
}

} // namespace vramscope::report
