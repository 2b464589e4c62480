// report/log/log_reader.hpp — the records of a whole log in the order of their times.
//
// A k-way merge over the lanes: each is read through one small window, opened only when its time
// comes. Where times are equal, frees come first, so that an address is free before it is handed
// out again. Records without a time come as soon as they are reached. Within a lane times may step
// back a little; such a record comes late, and heap_replay knows.
//
// While a log is being written, hold_back() to a moment from before the reader was made or
// refreshed: a thread that knows of an allocation makes its own calls after that was published, so
// up to this moment nothing is there without what it rests on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "report/log/chunk_cursor.hpp"
#include "report/log/lost_chunks.hpp"
#include "report/log/tick_clock.hpp"

namespace vramscope::report {

// A free whose driver call had begun, and that was not written down.
struct PendingFree {
    std::uint64_t api = 0;
    std::uint64_t address = 0;
    std::uint64_t ticks = 0;
    std::uint64_t stack = 0;
};

class LogReader {
public:
    explicit LogReader(const LogFile& file);

    // nullptr at the end, or where only records after the moment of hold_back() are left. Valid
    // until the next call.
    const Record* next();
    // Behind next(): more hot records, if they come next and are the same thread's; as many as are
    // easily had, and no more than there is room for in `to`. Returns how many: perhaps none.
    std::size_t next_hot(std::span<Record> to);
    void hold_back(std::uint64_t ticks) noexcept { until_ = ticks; }

    // Goes on with what was published since: after LogFile::refresh(), when next() gave nullptr.
    // Costs one small read per lane, and what is new.
    void refresh();

    // Calls `visit` for every record with this tag, in no order: for definitions that are needed
    // before their turn.
    template <typename Visit>
    void scan(format::Tag tag, Visit visit) const;

    // How far it has read: when next() gave nullptr. A reader of the same log that is new can go on
    // from there; it then knows nothing of the chunks that were read to their ends.
    struct LanePosition {
        std::uint32_t lane = 0;
        bool opened = false;
        std::uint64_t records = 0;         // of its first chunk that were read
        std::vector<std::uint32_t> chunks; // positions in the file, from that one on
    };
    struct Position {
        std::uint32_t indexed = 0;
        std::vector<LanePosition> lanes;
        std::vector<EmptyRun> unbegun;
        std::uint64_t begun = 0;
        std::uint64_t damaged_chunks = 0;
        std::uint64_t missing_chunks = 0;
        std::uint64_t chunks = 0;
        std::uint64_t chunks_read = 0;
        bool cut = false;
    };
    Position kept() const;
    bool restore(const Position& position); // false: it is none of this log

    const TickClock& clock() const noexcept { return clock_; }
    // As the chunk headers were when the reader was made.
    const std::vector<PendingFree>& pending_frees() const noexcept { return pending_frees_; }
    double fraction_read() const noexcept;
    std::size_t chunks_read() const noexcept { return chunks_read_; } // to their ends
    bool cut() const noexcept;
    std::uint64_t damaged_chunks() const;
    EmptyChunks empty_chunks() const;

private:
    struct Chunk {
        std::uint32_t position;
        std::uint32_t lane;
        std::uint32_t ordinal;
        std::uint32_t committed;
        std::uint64_t base_ticks;
    };
    struct Lane {
        std::vector<Chunk> chunks;  // in their order
        std::size_t next_chunk = 0; // the first that was not opened
        std::unique_ptr<ChunkCursor> cursor;
        bool loaded = false;  // `record` is one that was not handed out
        bool waiting = false; // it has no record now and is not in turns_
        Record record;
    };
    struct Turn {
        std::uint64_t ticks;
        std::uint32_t rank;
        std::uint32_t lane; // index into lanes_
        bool operator<(const Turn& other) const noexcept;
    };

    LanePosition position_of(const Lane& lane) const;
    bool restore_lane(const LanePosition& position);
    void index_new_chunks();
    void index_chunks(EmptyRun run, std::vector<Chunk>& found);
    bool index_chunk(std::uint32_t position, std::vector<Chunk>& found);
    void add_to_lane(const Chunk& chunk);
    void add_turn(Turn turn);
    static std::uint64_t early_ticks(const Chunk& chunk) noexcept; // when its lane is opened
    std::uint32_t committed_now(const Chunk& chunk) const;
    ChunkCursor cursor_of(const Chunk& chunk) const;
    void step();
    bool advance(Lane& lane);
    void close_cursor(Lane& lane);
    void settle_first_turn();
    void drop_first_turn();

    const LogFile& file_;
    TickClock clock_;
    std::vector<EmptyRun> unbegun_; // handed out: their threads may yet begin them
    std::uint32_t indexed_ = 0;     // positions before this are known
    std::uint64_t begun_ = 0;       // those of them that have a magic
    std::vector<PendingFree> pending_frees_;
    std::vector<Lane> lanes_;
    std::unordered_map<std::uint32_t, std::size_t> lane_of_index_;
    std::vector<Turn> turns_; // binary heap, the earliest first
    std::uint64_t until_ = UINT64_MAX;
    bool started_ = false;
    bool cut_ = false; // in a chunk
    std::uint64_t damaged_chunks_ = 0;
    std::uint64_t missing_chunks_ = 0; // between those of a lane
    std::size_t chunks_ = 0;
    std::size_t chunks_read_ = 0;
};

template <typename Visit>
void LogReader::scan(format::Tag tag, Visit visit) const
{
    Record record;
    for (const Lane& lane : lanes_) {
        for (const Chunk& chunk : lane.chunks) {
            ChunkCursor cursor = cursor_of(chunk);
            while (cursor.next(record)) {
                if (record.tag == tag)
                    visit(record);
            }
        }
    }
}

} // namespace vramscope::report
