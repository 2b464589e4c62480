// report/exporters/exported_memory.hpp — what the exports of memory share.
//
// They share the choice of blocks, one reading of the log, and stacks with one entry per address.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "report/exporters/exporters.hpp"
#include "report/findings/places/stack_reader.hpp"
#include "report/replay/reading/reading.hpp"

namespace vramscope::report {

// Whether the export is about such memory: the program's own, on the device that was asked for.
bool is_wanted(format::Memory memory, std::int16_t device, const ExportOptions& options) noexcept;

std::vector<std::string> doubts_about(const Reading& reading); // why not all may be there

class MemoryReading {
public:
    // `until_ticks`: see LogReader::hold_back().
    explicit MemoryReading(const LogFile& file, std::uint64_t until_ticks = UINT64_MAX);

    // The watch is told of every block, of any memory. `look`, if it is not empty, is shown each
    // record before the watch hears of it.
    void read(BlockWatch& watch, const std::function<void(double)>& progress,
              const std::function<void(const Record&)>& look = {});

    // After read(): every block of memory that is alive at the end.
    template <typename Visit>
    void for_each_alive(Visit visit)
    {
        replay_.for_each_alive(visit);
    }

    const LogTables& tables() const noexcept { return reading_.tables(); }
    const HeapReplay& replay() const noexcept { return replay_; }
    std::uint64_t ns(std::uint64_t ticks) const noexcept { return reading_.clock().ns(ticks); }

    std::vector<std::string> doubts() const { return doubts_about(reading_); } // after read()

private:
    Reading reading_;
    HeapReplay replay_;
};

// Where no stack was captured, what was called is what is known: it stands in its place.
CallPlace read_site(StackReader& stacks, const Site& site);

// Each has the frames of one address: those of inlined calls, innermost first, then the function's.
std::vector<std::span<const Frame>> code_places(const std::vector<Frame>& stack);

} // namespace vramscope::report
