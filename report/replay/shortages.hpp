// report/replay/shortages.hpp — allocations that failed for want of memory.
//
// Feed it every record behind HeapReplay, SegmentReplay and DeviceMemory. The first and the last
// few moments are kept, all are counted. Where an allocator of the program's fails, the failures of
// the driver that it met with are a part of that one. What held the memory costs a walk over the live blocks. In
// a log with very many failures the walk is made for the first ones, and for others only so often
// that the walks do not cost more than the replay.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/shortages.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/pool/segment_replay.hpp"

namespace vramscope::report {

struct LoggedShortage : ShortageNumbers {
    std::uint64_t api = 0;
    std::uint64_t stack = 0; // the stack of the allocation that failed; 0: none
    std::uint64_t ticks = 0;
    std::uint32_t thread = 0;       // index
    std::uint64_t allocations = 0;  // that had succeeded before it
    std::vector<LostBlocks> owners; // those that held the most
};

class Shortages {
public:
    static constexpr std::size_t kFirst = 8;
    static constexpr std::size_t kLast = 8;
    static constexpr std::size_t kOwners = 20; // some become one row, by what a reader sees

    static constexpr std::size_t kMapCells = 64;

    explicit Shortages(const LogTables& tables) : tables_(tables) {} // which outlive this

    void apply(const Record& record, HeapReplay& heap, const SegmentReplay& segments,
               const DeviceMemory& memory);

    std::vector<LoggedShortage> kept() const; // in order of time
    std::uint64_t count() const noexcept { return count_; }

private:
    void add(const Record& record, const format::OutOfMemory& logged, HeapReplay& heap,
             const SegmentReplay& segments, const DeviceMemory& memory);
    static std::uint64_t look_at_owners(LoggedShortage& shortage, HeapReplay& heap);
    static std::uint64_t look_at_pieces(LoggedShortage& shortage, const SegmentReplay& segments);
    static std::uint64_t look_into_allocator(LoggedShortage& shortage, HeapReplay& heap);
    void absorb_causes(LoggedShortage& shortage);
    LoggedShortage* latest();

    const LogTables& tables_;
    std::vector<LoggedShortage> first_;
    std::deque<LoggedShortage> last_;
    std::uint64_t count_ = 0;
    std::uint64_t walk_again_at_ = 0; // number of an event
    // By thread: the stack of its last failed call.
    std::unordered_map<std::uint32_t, std::uint64_t> last_stack_;
    std::map<std::int64_t, std::uint64_t> retries_;
};

} // namespace vramscope::report
