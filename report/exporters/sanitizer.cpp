// report/exporters/sanitizer.cpp — leaks and errors as compute-sanitizer's memcheck prints them.
//
// For what reads its text: CTest's memory check counts the lines "== Leaked … bytes at" and "==
// Error: …". A paragraph for each block that leaked, as there, and for each place of wrong frees or
// damage; the stack's first line is the call, whose address within the runtime is not known here.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "report/exporters/exported_memory.hpp"
#include "report/exporters/open_blocks.hpp"
#include "report/findings/make_report.hpp"
#include "report/words/cuda_results.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

struct LeakedBlock {
    std::uint64_t ticks = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    SiteId site = 0;
};

class Leaked : public BlockWatch {
public:
    explicit Leaked(const ExportOptions& options) : options_(options) {}

    void born(const Block& block) override
    {
        if (is_wanted(block.memory, block.device, options_))
            open_.open(block, {block.ticks, block.address, block.bytes, block.site});
    }
    void freed(const Block& block, std::uint64_t) override { open_.close(block); }
    void gone(const Block& block, std::uint64_t) override { open_.close(block); }
    // It was not freed: what the site allocates later has another context, and is another site's.
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t) override
    {
        for (const SiteLoss& loss : losses)
            for (auto& [address, block] : open_.close_site(loss.site))
                died_.push_back(block);
    }

    // By the time of their allocation.
    std::vector<LeakedBlock> all() const
    {
        std::vector<LeakedBlock> blocks = died_;
        for (const auto& [site, of_site] : open_.sites())
            for (const auto& [address, block] : of_site)
                blocks.push_back(block);
        std::sort(blocks.begin(), blocks.end(), [](const LeakedBlock& a, const LeakedBlock& b) {
            return std::tie(a.ticks, a.address) < std::tie(b.ticks, b.address);
        });
        return blocks;
    }

private:
    const ExportOptions& options_;
    OpenBlocks<LeakedBlock> open_;
    std::vector<LeakedBlock> died_;
};

std::string host_frames(const CallPlace& place, std::string_view moment)
{
    std::string text =
        fmt::format("=========     Saved host backtrace up to driver entry point at {}\n", moment);
    if (!place.api.empty())
        text += fmt::format("=========         Host Frame: {}\n", terminal_safe(place.api));
    for (const Frame& frame : place.stack) {
        if (frame.module.empty() && !frame.python)
            continue; // no stack was captured: the call stands in its place
        text += fmt::format("=========         Host Frame: {} [{:#x}] in {}\n", function_of(frame),
                            frame.offset,
                            terminal_safe(file_name(frame.python ? frame.file : frame.module)));
    }
    return text + "=========\n";
}

std::string times(std::uint64_t calls)
{
    return calls == 1 ? "" : fmt::format(", {} times", grouped(calls));
}

// Wrong frees, and memory that something wrote to where it must not. Returns how many there were.
std::uint64_t write_errors(const std::filesystem::path& log, const Sink& sink,
                           const ExportOptions& options)
{
    Options reading;
    reading.all_frames = options.all_frames;
    reading.symbols = options.symbols;
    const Report report = make_report({log}, reading);
    std::uint64_t errors = 0;
    for (const Misuse& row : report.misuse) {
        sink(fmt::format("========= Error: {} at {:#x}, answered by {}{}\n{}", name(row.kind),
                         row.address, result_name(row.result), times(row.calls),
                         host_frames(row.call, "error")));
        errors += row.calls;
    }
    for (const Damage& row : report.damage) {
        sink(fmt::format("========= Error: {} of {} bytes at offset {} of the block at {:#x}{}\n{}",
                         name(row.kind), grouped(row.wrong_bytes), row.offset, row.address,
                         times(row.times), host_frames(row.noticed, "the time when it was seen")));
        errors += row.times;
    }
    return errors;
}

} // namespace

void export_sanitizer(const std::filesystem::path& log, const Sink& sink,
                      const ExportOptions& options)
{
    const LogFile file = LogFile::open(log);
    Symbolizer symbolizer(options.symbols);
    Leaked leaked(options);
    MemoryReading reading(file);
    reading.read(leaked, options.progress);
    StackReader stacks(reading.tables(), symbolizer,
                       options.all_frames ? ShownFrames::all : ShownFrames::visible);
    std::string head = fmt::format("========= COMPUTE-SANITIZER\n========= {}\n", kOwnMark);
    for (const std::string& doubt : reading.doubts())
        head += fmt::format("========= Incomplete: {}\n", doubt);
    sink(head);
    std::unordered_map<SiteId, std::string> texts;
    std::uint64_t bytes = 0;
    const std::vector<LeakedBlock> blocks = leaked.all();
    for (const LeakedBlock& block : blocks) {
        std::string& text = texts[block.site];
        if (text.empty())
            text = host_frames(read_site(stacks, reading.replay().sites()[block.site]),
                               "allocation time");
        sink(fmt::format("========= Leaked {} bytes at {:#x}\n{}", grouped(block.bytes),
                         block.address, text));
        bytes += block.bytes;
    }
    const std::uint64_t errors = blocks.size() + write_errors(log, sink, options);
    sink(fmt::format("========= LEAK SUMMARY: {} bytes leaked in {} allocations\n"
                     "========= ERROR SUMMARY: {} error{}\n",
                     bytes, blocks.size(), errors, errors == 1 ? "" : "s"));
    if (options.unread_files)
        options.unread_files(symbolizer.unread_files());
}

} // namespace vramscope::report
