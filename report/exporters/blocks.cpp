// report/exporters/blocks.cpp — every block as comma-separated values, for tables and notebooks.
//
// A line is written when its block ends, and at the end one for each block that is alive, in the
// order of their allocation. What a block is, which frame names it and what was never freed is as
// in the report, so that the lines add up to its sums. Of what died with its context, the bytes are
// those of its allocation.
#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "report/exporters/exported_memory.hpp"
#include "report/exporters/never_freed.hpp"
#include "report/exporters/open_blocks.hpp"
#include "report/log/first_reading.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kBlocksPieceBytes = 256 * 1024;
constexpr double kBlocksFirstReadings = 0.4; // share of the time

// As a reader of such values takes it for one.
std::string csv_text(std::string_view text)
{
    std::string safe = terminal_safe(text);
    if (safe.find_first_of(",\"\n\r") == safe.npos)
        return safe;
    for (std::size_t at = 0; (at = safe.find('"', at)) != safe.npos; at += 2)
        safe.insert(at, 1, '"');
    return '"' + safe + '"';
}

class BlocksFile : public BlockWatch {
public:
    BlocksFile(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
        : file_(LogFile::open(log)), sink_(sink), options_(options), symbolizer_(options.symbols),
          known_(read_definitions(file_, {})),
          stacks_(known_.tables, symbolizer_,
                  options.all_frames ? ShownFrames::all : ShownFrames::own),
          reading_(file_, known_.last_ticks)
    {
    }

    void write()
    {
        find_wrappers();
        text_ = std::string(kOwnBlocksHead) +
                "bytes,address,memory,device,tid,phase,api,function,file,line,fingerprint,stack\n";
        reading_.read(*this, [this](double part) {
            progress(kBlocksFirstReadings + (1 - kBlocksFirstReadings) * part);
        });
        write_the_living();
        sink_(text_);
        if (options_.unread_files)
            options_.unread_files(symbolizer_.unread_files());
    }

    void born(const Block& block) override
    {
        if (is_wanted(block.memory, block.device, options_))
            open_.open(block, {block, phase_of(block)});
    }

    void freed(const Block& block, std::uint64_t ticks) override { end(block, "freed", ticks); }
    void gone(const Block& block, std::uint64_t ticks) override { end(block, "gone", ticks); }

    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override
    {
        for (const SiteLoss& loss : losses) {
            std::vector<Open> died;
            for (auto& [address, open] : open_.close_site(loss.site))
                died.push_back(std::move(open));
            write_in_order(died, "context", std::to_string(reading_.ns(ticks)));
        }
    }

private:
    struct Open {
        Block block;
        std::string phase; // the block's own is known only while it lives
    };

    void progress(double fraction) const
    {
        if (options_.progress)
            options_.progress(fraction);
    }

    // A wrapper is known by all places that call it.
    void find_wrappers()
    {
        NeverFreed unused;
        MemoryReading first(file_, known_.last_ticks);
        first.read(unused, [this](double part) { progress(kBlocksFirstReadings * part); });
        stacks_.find_wrappers(first.replay().sites().all());
    }

    std::string phase_of(const Block& block) const
    {
        std::string names;
        for (const std::string& name : reading_.replay().phases().path(block.phase))
            names += (names.empty() ? "" : "/") + name;
        return csv_text(names);
    }

    void end(const Block& block, const char* how, std::uint64_t ticks)
    {
        if (const auto open = open_.close(block))
            write_line({block, open->phase}, how, std::to_string(reading_.ns(ticks)));
    }

    void write_the_living()
    {
        std::vector<Open> living;
        reading_.for_each_alive([&](const Block& block) {
            if (auto open = open_.close(block))
                living.push_back({block, std::move(open->phase)});
        });
        write_in_order(living, "alive", "");
    }

    void write_in_order(std::vector<Open>& blocks, const char* how, const std::string& until)
    {
        std::sort(blocks.begin(), blocks.end(), [](const Open& one, const Open& other) {
            return std::tie(one.block.ticks, one.block.address) <
                   std::tie(other.block.ticks, other.block.address);
        });
        for (const Open& open : blocks)
            write_line(open, how, until);
    }

    void write_line(const Open& open, const char* how, const std::string& until)
    {
        const Block& block = open.block;
        text_ += fmt::format(
            "{},{},{},{},{:#x},{},{},{},{},{}\n", reading_.ns(block.ticks), until, how, block.bytes,
            block.address, name(block.memory), block.device < 0 ? "" : std::to_string(block.device),
            reading_.tables().thread(block.thread).tid, open.phase, place_of_site(block.site));
        if (text_.size() < kBlocksPieceBytes)
            return;
        sink_(text_);
        text_.clear();
    }

    // The end of the lines of its blocks.
    const std::string& place_of_site(SiteId number)
    {
        std::string& text = places_[number];
        if (!text.empty())
            return text;
        const Site& site = reading_.replay().sites()[number];
        const CallPlace place = stacks_.read(site.api, site.stack, site.last_ticks);
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

    const LogFile file_;
    const Sink& sink_;
    const ExportOptions& options_;
    Symbolizer symbolizer_;
    Definitions known_;
    StackReader stacks_;
    MemoryReading reading_;
    std::string text_; // not given to the sink yet
    OpenBlocks<Open> open_;
    std::unordered_map<SiteId, std::string> places_;
};

} // namespace

void export_blocks(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    BlocksFile(log, sink, options).write();
}

} // namespace vramscope::report
