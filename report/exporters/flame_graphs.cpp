// report/exporters/flame_graphs.cpp — stacks with sums: folded lines, and speedscope's file.
//
// Both are written at the end of one reading: what is kept is one entry for each stack. Stacks
// begin with a frame that says what memory they are of, so that devices are not mixed.
#include <map>
#include <vector>

#include <fmt/format.h>

#include "report/exporters/exported_sums.hpp"
#include "report/exporters/json_line.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

struct StackUse {
    std::uint64_t never_freed_bytes = 0;
    std::uint64_t never_freed_blocks = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t allocations = 0;
};

std::string memory_kind_of(const Site& site)
{
    return site.device < 0 ? fmt::format("{} memory", name(site.memory))
                           : fmt::format("{} memory, device {}", name(site.memory), site.device);
}

// Calls `visit` with each site's memory, its stack, innermost first, and sums.
template <typename Visit>
std::vector<std::string> read_stacks(const std::filesystem::path& log, const ExportOptions& options,
                                     Visit visit)
{
    const LogFile file = LogFile::open(log, LogFile::Collected::taken);
    Symbolizer symbolizer(options.symbols);
    ExportedSums sums(file);
    sums.read(options.progress);
    StackReader stacks(sums.tables(), symbolizer,
                       options.all_frames ? ShownFrames::all : ShownFrames::visible);
    sums.for_each_wanted(options, [&](const SiteUse& use) {
        visit(use.site, read_site(stacks, use.site),
              StackUse{use.never_freed_bytes, use.never_freed_blocks, use.site.allocated_bytes,
                       use.site.allocations});
    });
    if (options.unread_files)
        options.unread_files(symbolizer.unread_files());
    return sums.doubts();
}

// A semicolon would begin another frame.
std::string folded(std::string name)
{
    for (char& c : name)
        c = c == ';' ? ',' : c;
    return name;
}

class SpeedscopeFile {
public:
    void add(const Site& site, const CallPlace& place, const StackUse& use)
    {
        std::vector<std::size_t> stack{number_of(memory_kind_of(site), {}, 0)};
        const std::vector<Frame>& frames = place.stack;
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            stack.push_back(number_of(function_of(*frame), frame->file, frame->line));
        stacks_.push_back(std::move(stack));
        uses_.push_back(use);
    }

    void write(const std::string& title, const std::vector<std::string>& doubts,
               const Sink& sink) const
    {
        std::string text;
        JsonLine line(text);
        line.text("exporter", "vramscope");
        line.text("$schema", "https://www.speedscope.app/file-format-schema.json");
        line.text("name", doubts.empty() ? title : title + " (incomplete: " + doubts[0] + ")");
        line.number("activeProfileIndex", 0);
        line.open_object("shared").open_array("frames");
        for (const Name& frame : frames_) {
            line.open_object().text("name", frame.function);
            if (!frame.file.empty())
                line.text("file", frame.file);
            if (frame.line > 0)
                line.number("line", frame.line);
            line.close();
        }
        line.close().close().open_array("profiles");
        profile(line, "never freed, bytes", "bytes", &StackUse::never_freed_bytes);
        profile(line, "never freed, blocks", "none", &StackUse::never_freed_blocks);
        profile(line, "allocated, bytes", "bytes", &StackUse::allocated_bytes);
        profile(line, "allocated, blocks", "none", &StackUse::allocations);
        line.close().end();
        sink(text);
    }

private:
    struct Name {
        std::string function;
        std::string file;
        int line;
        auto operator<=>(const Name&) const = default;
    };

    std::size_t number_of(std::string function, const std::string& file, int line)
    {
        Name name{std::move(function), terminal_safe(file), line};
        const auto [entry, added] = numbers_.try_emplace(name, frames_.size());
        if (added)
            frames_.push_back(std::move(name));
        return entry->second;
    }

    void profile(JsonLine& line, const char* name, const char* unit,
                 std::uint64_t StackUse::*value) const
    {
        std::uint64_t sum = 0;
        line.open_object().text("type", "sampled").text("name", name).text("unit", unit);
        line.open_array("samples");
        for (std::size_t at = 0; at < stacks_.size(); ++at) {
            if (uses_[at].*value == 0)
                continue;
            line.open_array({});
            for (const std::size_t frame : stacks_[at])
                line.number({}, frame);
            line.close();
        }
        line.close().open_array("weights");
        for (const StackUse& use : uses_) {
            if (use.*value > 0)
                line.number({}, use.*value);
            sum += use.*value;
        }
        line.close().number("startValue", 0).number("endValue", sum).close();
    }

    std::vector<Name> frames_;
    std::map<Name, std::size_t> numbers_;
    std::vector<std::vector<std::size_t>> stacks_; // outermost first
    std::vector<StackUse> uses_;                   // one for each stack
};

} // namespace

void export_folded(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    std::map<std::string, std::uint64_t> lines;
    read_stacks(log, options, [&](const Site& site, const CallPlace& place, const StackUse& use) {
        const std::uint64_t sum =
            options.folded == FoldedSum::allocated ? use.allocated_bytes : use.never_freed_bytes;
        if (sum == 0)
            return;
        std::string line = std::string(kOwnFoldedHead) + memory_kind_of(site);
        const std::vector<Frame>& frames = place.stack;
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            line += ';' + folded(function_of(*frame));
        lines[line] += sum;
    });
    for (const auto& [line, bytes] : lines)
        sink(fmt::format("{} {}\n", line, bytes));
}

void export_speedscope(const std::filesystem::path& log, const Sink& sink,
                       const ExportOptions& options)
{
    SpeedscopeFile file;
    const std::vector<std::string> doubts = read_stacks(
        log, options, [&](const Site& site, const CallPlace& place, const StackUse& use) {
            file.add(site, place, use);
        });
    file.write(terminal_safe(log.filename().string()), doubts, sink);
}

} // namespace vramscope::report
