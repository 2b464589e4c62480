// report/log/chunk_cursor.hpp — the records of one chunk, through a small window.
//
// Whole records only. What cannot be decoded ends the chunk and sets damaged(); a file that ends
// early sets cut(). A length-prefixed record with an unknown tag is skipped. Memory: one window, at
// most one chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/log/log_file.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// Nearly all records of a log are of these two kinds. Whatever looks for other kinds skips them
// without a look at their fields.
constexpr bool is_hot(format::Tag tag) noexcept
{
    return tag == format::Tag::alloc || tag == format::Tag::free;
}

// Which fields are set depends on the tag; the others are stale. `body` holds what follows them in
// the log. A `pooled` record of the log is an alloc here.
struct Record {
    format::Tag tag = format::Tag::end;
    bool timed = false;        // definitions have no time
    bool pooled = false;       // alloc: out of a segment of the internal pool
    std::uint32_t thread = 0;  // its index, as the record `thread` before it says
    std::uint64_t ticks = 0;   // a definition has those of the record before it
    std::uint64_t api = 0;     // the entry point of a call; else 0
    std::uint64_t address = 0; // alloc, free
    std::uint64_t bytes = 0;   // alloc
    std::uint64_t stack = 0;   // alloc, free
    std::uint64_t slack = 0;   // alloc: if pooled, the bytes that its block is larger by
    format::Place place;       // alloc, free: as the record `place` before it says
    // The bytes of a length-prefixed record; valid until the next record is read.
    format::Cursor body{nullptr, nullptr};

    // The fields of a length-prefixed record; its texts are valid as long as `body`. Nothing, where
    // it is another record or its body ends early.
    template <typename R>
    std::optional<R> as() const noexcept
    {
        return tag == R::kLayout.tag ? format::get_fields<R>(body) : std::nullopt;
    }
};

class ChunkCursor {
public:
    // `payload`: offset of the first record in the file.
    ChunkCursor(const LogFile& file, std::uint64_t payload, std::uint32_t committed,
                std::uint64_t base_ticks, std::uint32_t thread);

    bool next(Record& record)
    {
        return next_hot({&record, 1}, [](const Record&) { return false; }) > 0 ||
               next_of_any_kind(record);
    }
    bool skip(std::uint64_t records); // false: there are not so many
    // Hot records alone, one after the other, as long as there is room in `to`, `goes_on` holds for
    // the one before, and all is as it nearly always is: numbers are short, and the end of the
    // window is far. Returns how many.
    template <typename GoesOn>
    std::size_t next_hot(std::span<Record> to, GoesOn goes_on);

    // The chunk has grown to `committed` bytes. After damage or a cut nothing more comes.
    void extend(std::uint32_t committed) noexcept;
    // At the end of what there is for now: gives back the window's memory.
    void rest();
    // Bytes of the payload up to the end of the last record.
    std::uint32_t consumed() const noexcept
    {
        return static_cast<std::uint32_t>(window_offset_ + at_ - payload_);
    }
    std::uint64_t records() const noexcept { return records_; } // that were read

    bool damaged() const noexcept { return damaged_; }
    bool cut() const noexcept { return cut_; }

private:
    enum class Step { record, nothing, failed };

    bool next_of_any_kind(Record& record);
    bool next_in_window(Record& record);
    Step step(format::Cursor& in, Record& record);
    Step length_prefixed(format::Cursor& in, Record& record);
    bool refill();
    void stop();

    const LogFile& file_;
    std::uint64_t payload_;
    std::uint64_t window_offset_; // in the file
    std::uint64_t end_offset_;    // where the committed bytes end
    std::vector<std::uint8_t> window_;
    std::size_t at_ = 0; // in the window
    format::DeltaState delta_;
    format::Place place_;
    std::uint32_t thread_;
    std::uint64_t records_ = 0;
    bool damaged_ = false;
    bool cut_ = false;
    bool stopped_ = false;
};

inline void take(Record& record, const format::Alloc& event) noexcept
{
    record.tag = format::Tag::alloc;
    record.timed = true;
    record.pooled = event.pooled;
    record.ticks = event.ticks;
    record.api = event.api;
    record.address = event.address;
    record.bytes = event.bytes;
    record.stack = event.stack;
    record.slack = event.slack;
}

inline void take(Record& record, const format::Free& event) noexcept
{
    record.tag = format::Tag::free;
    record.timed = true;
    record.ticks = event.ticks;
    record.api = event.api;
    record.address = event.address;
    record.stack = event.stack;
}

// Flat, so that position and deltas stay in registers.
template <typename GoesOn>
[[gnu::flatten]] std::size_t ChunkCursor::next_hot(std::span<Record> to, GoesOn goes_on)
{
    using format::Tag;
    if (window_.size() < format::kShortCursorBytes)
        return 0;
    const std::uint8_t* begin = window_.data() + at_;
    const std::uint8_t* const last = window_.data() + window_.size() - format::kShortCursorBytes;
    format::DeltaState delta = delta_; // as the last record that was read left it
    std::size_t count = 0;
    while (count < to.size() && begin <= last) {
        Record& record = to[count];
        const Tag tag = format::tag_of(*begin);
        format::ShortCursor in(begin + 1);
        format::DeltaState next = delta;
        if (tag == Tag::alloc || tag == Tag::pooled)
            take(record, format::decode_alloc(in, *begin, next));
        else if (tag == Tag::free)
            take(record, format::decode_free(in, *begin, next));
        else
            break;
        if (!in.ok())
            break;
        record.thread = thread_;
        record.place = place_;
        delta = next;
        begin = in.position();
        ++count;
        if (!goes_on(record))
            break;
    }
    delta_ = delta;
    at_ = static_cast<std::size_t>(begin - window_.data());
    records_ += count;
    return count;
}

} // namespace vramscope::report
