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
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

// Whether the export is about such memory: the program's own, on the device that was asked for.
bool is_wanted(format::Memory memory, std::int16_t device, const ExportOptions& options) noexcept;

class MemoryReading {
public:
    explicit MemoryReading(const LogFile& file);

    // The watch is told of every block, of any memory. `until_ticks`: see LogReader::hold_back().
    // `look`, if it is not empty, is shown each record before the watch hears of it.
    void read(BlockWatch& watch, std::uint64_t until_ticks,
              const std::function<void(double)>& progress,
              const std::function<void(const Record&)>& look = {});

    const LogTables& tables() const noexcept { return tables_; }
    const HeapReplay& replay() const noexcept { return replay_; }
    std::uint64_t ns(std::uint64_t ticks) const noexcept { return reader_.clock().ns(ticks); }

    std::vector<std::string> doubts() const; // after read(): why not all may be there

private:
    const LogFile& file_;
    const bool running_;
    LogReader reader_;
    LogTables tables_;
    HeapReplay replay_;
};

// Where no stack was captured, what was called is what is known: it stands in its place.
CallPlace read_site(StackReader& stacks, const Site& site);

// Each has the frames of one address: those of inlined calls, innermost first, then the function's.
std::vector<std::span<const Frame>> code_places(const std::vector<Frame>& stack);

} // namespace vramscope::report
