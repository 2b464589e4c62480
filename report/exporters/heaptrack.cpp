// report/exporters/heaptrack.cpp — device memory for heaptrack_print and heaptrack_gui.
//
// It is the text of their file version 1. A line's first letter says what it is: `s` a text, `i` an
// address (module, then function, file and line of each inlined call and of its own), `t` a node of
// the tree of stacks, `a` a size at such a node, `+` and `-` an allocation and its free, `c` the
// time in ms. Numbers are hexadecimal and count from 1, those of `a` from 0. What dies with a
// context while the program runs on is freed here, so that the peak is right, as in the report.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/exporters/exported_memory.hpp"
#include "report/exporters/written_export.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostSizes = 1 << 20;    // remembered; beyond, some are defined again
constexpr double kHeaptrackFirstReading = 0.3; // share of the time
constexpr int kHeaptrackVersion = 0x10400;
constexpr int kFileVersion = 1;
constexpr int kPageBytes = 4096;

class HeaptrackFile : public BlockWatch, private WrittenExport {
public:
    HeaptrackFile(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
        : WrittenExport(log, sink, options, kHeaptrackFirstReading),
          stacks_(known_.tables, symbolizer_,
                  options.all_frames ? ShownFrames::all : ShownFrames::visible),
          reading_(file_, known_.last_ticks)
    {
    }

    void write()
    {
        write_head();
        reading_.read(*this, [this](double part) {
            progress(kHeaptrackFirstReading + (1 - kHeaptrackFirstReading) * part);
        });
        write_time(reading_.replay().counts().last_ticks);
        give_rest();
    }

    void born(const Block& block) override
    {
        if (!is_wanted_here(block.memory, block.device))
            return;
        write_time(block.ticks);
        line("+ {:x}\n", number_of_size(block.site, block.bytes));
    }

    void freed(const Block& block, std::uint64_t ticks) override { gone(block, ticks); }

    void gone(const Block& block, std::uint64_t ticks) override
    {
        if (!is_wanted_here(block.memory, block.device))
            return;
        write_time(ticks);
        line("- {:x}\n", number_of_size(block.site, block.bytes));
    }

    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override
    {
        const std::uint64_t exit_began = file_.header().exit_began_ticks;
        if (exit_began != 0 && ticks >= exit_began)
            return; // the exit itself took it: it was not freed
        for (const SiteLoss& loss : losses) {
            const Site& site = reading_.replay().sites()[loss.site];
            if (!is_wanted_here(site.memory, site.device))
                continue;
            write_time(ticks);
            line("- {:x}\n", number_of_size(loss.site, loss.bytes)); // all of them at once
        }
    }

private:
    bool is_wanted_here(format::Memory memory, std::int16_t device) const noexcept
    {
        return class_of(memory) == format::MemoryClass::device &&
               is_wanted(memory, device, options_);
    }

    template <typename... Values>
    void line(fmt::format_string<const Values&...> format, const Values&... values)
    {
        fmt::vformat_to(std::back_inserter(text_), format, fmt::make_format_args(values...));
        give_piece();
    }

    void write_head()
    {
        line("v {:x} {:x}\n# {}\n", kHeaptrackVersion, kFileVersion, kOwnMark);
        const std::string_view command = known_.tables.info_value("command");
        line("X {}\n", command.empty() ? "?" : terminal_safe(command));
        std::uint64_t bytes = 0;
        for (const LoggedDevice& device : known_.tables.devices()) {
            if (!options_.device || device.ordinal == *options_.device)
                bytes += device.bytes;
        }
        line("I {:x} {:x}\n", kPageBytes, bytes / kPageBytes);
    }

    void write_time(std::uint64_t ticks)
    {
        const std::uint64_t ms = reading_.ns(ticks) / 1'000'000;
        if (ms > std::exchange(last_ms_, std::max(ms, last_ms_)))
            line("c {:x}\n", ms);
    }

    std::uint64_t number_of_text(const std::string& text)
    {
        if (text.empty())
            return 0;
        const auto [entry, added] = texts_.try_emplace(text, texts_.size() + 1);
        if (added)
            line("s {}\n", text);
        return entry->second;
    }

    std::uint64_t number_of_place(std::span<const Frame> frames)
    {
        const Frame& own = frames.back();
        std::string fields =
            fmt::format("{:x} {:x}", own.offset, number_of_text(terminal_safe(own.module)));
        for (const Frame& frame : frames)
            fields += fmt::format(" {:x} {:x} {:x}", number_of_text(function_of(frame)),
                                  number_of_text(terminal_safe(frame.file)), frame.line);
        const auto [entry, added] = places_.try_emplace(fields, places_.size() + 1);
        if (added)
            line("i {}\n", fields);
        return entry->second;
    }

    // The node of the stack's innermost address.
    std::uint64_t node_of(SiteId number)
    {
        if (number >= nodes_of_sites_.size())
            nodes_of_sites_.resize(number + 1);
        std::uint64_t& node = nodes_of_sites_[number];
        if (node != 0)
            return node;
        const Site& site = reading_.replay().sites()[number];
        const CallPlace place = read_site(stacks_, site);
        const std::vector<std::span<const Frame>> addresses = code_places(place.stack);
        for (auto outer = addresses.rbegin(); outer != addresses.rend(); ++outer) {
            const std::uint64_t at = number_of_place(*outer);
            const auto [entry, added] = nodes_.try_emplace({at, node}, nodes_.size() + 1);
            if (added)
                line("t {:x} {:x}\n", at, node);
            node = entry->second;
        }
        return node;
    }

    std::uint64_t number_of_size(SiteId site, std::uint64_t bytes)
    {
        if (sizes_.size() >= kMostSizes)
            sizes_.clear();
        const std::uint64_t node = node_of(site);
        if (next_size_ == 0) {
            // This number is never used: a free of number 0 is always taken for temporary.
            line("a 0 {:x}\n", node);
            ++next_size_;
        }
        const auto [entry, added] = sizes_.try_emplace({node, bytes}, next_size_);
        if (added) {
            ++next_size_;
            line("a {:x} {:x}\n", bytes, node);
        }
        return entry->second;
    }

    StackReader stacks_;
    MemoryReading reading_;
    std::uint64_t last_ms_ = 0;
    std::map<std::string, std::uint64_t> texts_;
    std::map<std::string, std::uint64_t> places_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> nodes_; // (place, parent)
    std::vector<std::uint64_t> nodes_of_sites_;                              // 0: not yet
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> sizes_; // (node, bytes)
    std::uint64_t next_size_ = 0;
};

} // namespace

void export_heaptrack(const std::filesystem::path& log, const Sink& sink,
                      const ExportOptions& options)
{
    HeaptrackFile(log, sink, options).write();
}

} // namespace vramscope::report
