// report/read/log_reader.hpp — the records of a whole log in the order of their times.
//
// A k-way merge over the threads: each is read through one small window, opened only when its time
// comes. Of equal times frees come first, so that an address is free before it is handed out again.
// Records without a time come as soon as they are reached. Within a thread times may step back a
// little; such a record comes late, and heap_replay knows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "report/read/chunk_cursor.hpp"
#include "report/read/tick_clock.hpp"

namespace vramscope::report {

class LogReader {
public:
    explicit LogReader(const LogFile& file);

    // nullptr at the end. Valid until the next call.
    const Record* next();

    // Calls `visit` for every record with this tag, without order: for definitions that are needed
    // early.
    template <typename Visit>
    void scan(format::Tag tag, Visit visit) const;

    const TickClock& clock() const noexcept { return clock_; }
    double fraction_read() const noexcept;
    bool cut() const noexcept { return cut_; }
    std::uint64_t damaged_chunks() const noexcept { return damaged_chunks_; }

private:
    struct Chunk {
        std::uint32_t position;
        std::uint32_t thread;
        std::uint32_t ordinal;
        std::uint32_t committed;
        std::uint64_t base_ticks;
    };
    struct Thread {
        std::size_t first_chunk = 0; // in chunks_, where those of a thread lie together
        std::size_t end_chunk = 0;
        std::size_t next_chunk = 0;
        std::unique_ptr<ChunkCursor> cursor;
        Record record;
    };
    struct Turn {
        std::uint64_t ticks;
        std::uint32_t rank;
        std::uint32_t thread; // index into threads_
        bool operator<(const Turn& other) const noexcept;
    };

    void index_chunks();
    void group_by_thread();
    bool index_chunk(std::uint32_t position);
    ChunkCursor cursor_of(const Chunk& chunk) const;
    bool advance(Thread& thread);
    void close_cursor(Thread& thread);
    void settle_first_turn();
    void drop_first_turn();

    const LogFile& file_;
    TickClock clock_;
    std::vector<Chunk> chunks_;
    std::vector<Thread> threads_;
    std::vector<Turn> turns_; // binary heap, the earliest first
    bool started_ = false;
    bool cut_ = false;
    std::uint64_t damaged_chunks_ = 0;
    std::size_t chunks_read_ = 0;
};

template <typename Visit>
void LogReader::scan(format::Tag tag, Visit visit) const
{
    Record record;
    for (const Chunk& chunk : chunks_) {
        ChunkCursor cursor = cursor_of(chunk);
        while (cursor.next(record)) {
            if (record.tag == tag)
                visit(record);
        }
    }
}

} // namespace vramscope::report
