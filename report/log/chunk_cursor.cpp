// report/log/chunk_cursor.cpp — decoding, and the window that follows it.
#include "report/log/chunk_cursor.hpp"

#include <algorithm>
#include <array>

namespace vramscope::report {

using format::Cursor;
using format::Tag;

namespace {

constexpr std::size_t kWindowBytes = 16 * 1024;

// Whether every field is there, so that readers of the record can rely on them.
bool is_whole(const Record& record) noexcept
{
    bool whole = false;
    format::Records::of_tag(record.tag, [&]<typename R>() { whole = record.as<R>().has_value(); });
    return whole;
}

} // namespace

ChunkCursor::ChunkCursor(const LogFile& file, std::uint64_t payload, std::uint32_t committed,
                         std::uint64_t base_ticks, std::uint32_t thread)
    : file_(file), payload_(payload), window_offset_(payload), end_offset_(payload + committed),
      thread_(thread)
{
    delta_.ticks = base_ticks;
}

bool ChunkCursor::skip(std::uint64_t records)
{
    std::array<Record, 64> skipped;
    while (records > 0) {
        const std::size_t most = std::min<std::uint64_t>(records, skipped.size());
        const std::size_t hot =
            next_hot({skipped.data(), most}, [](const Record&) { return true; });
        if (hot == 0 && !next_of_any_kind(skipped.front()))
            return false;
        records -= std::max<std::size_t>(hot, 1);
    }
    return true;
}

bool ChunkCursor::next_of_any_kind(Record& record)
{
    while (!next_in_window(record)) {
        const bool window_is_last = window_offset_ + window_.size() >= end_offset_;
        if (at_ == window_.size() && window_is_last)
            return false;
        if (window_is_last || !refill()) {
            stop();
            return false;
        }
    }
    return true;
}

bool ChunkCursor::next_in_window(Record& record)
{
    while (at_ < window_.size()) {
        Cursor in(window_.data() + at_, window_.data() + window_.size());
        const format::DeltaState before = delta_;
        const Step step = this->step(in, record);
        if (step == Step::failed) {
            delta_ = before;
            return false;
        }
        at_ = static_cast<std::size_t>(in.position() - window_.data());
        if (step == Step::record) {
            ++records_;
            return true;
        }
    }
    return false;
}

// At what cannot be read, however much more of it there is.
void ChunkCursor::stop()
{
    damaged_ = damaged_ || !cut_;
    stopped_ = true;
    window_.clear();
    at_ = 0;
    window_offset_ = end_offset_;
}

void ChunkCursor::extend(std::uint32_t committed) noexcept
{
    if (!stopped_)
        end_offset_ = std::max(end_offset_, payload_ + committed);
}

void ChunkCursor::rest()
{
    if (at_ < window_.size())
        return;
    window_offset_ += at_;
    at_ = 0;
    window_ = {};
}

// Moves the window to the current record, larger if the record alone did not fit.
bool ChunkCursor::refill()
{
    const std::uint64_t from = window_offset_ + at_;
    const std::size_t left = window_.size() - at_;
    const std::size_t wanted =
        std::min<std::uint64_t>(end_offset_ - from, std::max(kWindowBytes, 2 * left));
    window_.resize(wanted);
    const std::size_t got = file_.read_at(from, window_.data(), wanted);
    window_offset_ = from;
    at_ = 0;
    if (got < wanted) {
        cut_ = true;
        window_.resize(got);
        end_offset_ = from + got;
    }
    return got > left || !cut_;
}

ChunkCursor::Step ChunkCursor::step(Cursor& in, Record& record)
{
    const std::uint8_t byte = in.u8();
    const Tag tag = format::tag_of(byte);
    record.tag = tag;
    record.thread = thread_;
    record.place = place_;
    if (tag == Tag::alloc || tag == Tag::pooled) {
        take(record, format::decode_alloc(in, byte, delta_));
        return in.ok() ? Step::record : Step::failed;
    }
    if (tag == Tag::free) {
        take(record, format::decode_free(in, byte, delta_));
        return in.ok() ? Step::record : Step::failed;
    }
    if (tag == Tag::place) {
        const format::Place place = format::decode_place(in);
        if (!in.ok())
            return Step::failed;
        place_ = place;
        return Step::nothing;
    }
    if ((byte & format::kLengthPrefixed) == 0)
        return Step::failed; // a hot record of unknown shape, or bytes that were never written
    return length_prefixed(in, record);
}

ChunkCursor::Step ChunkCursor::length_prefixed(Cursor& in, Record& record)
{
    const std::string_view text = in.prefixed_text();
    if (!in.ok())
        return Step::failed;
    const format::Layout* const layout = format::layout_of(record.tag);
    if (!layout)
        return Step::nothing;
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(text.data());
    record.body = Cursor(begin, begin + text.size());
    const format::Moment moment = format::get_head(layout->head, record.body, delta_);
    record.timed = layout->head != format::Head::definition;
    record.ticks = moment.ticks;
    if (layout->head == format::Head::call)
        record.api = moment.api;
    // From here on another thread writes this chunk.
    if (const auto next = record.as<format::Thread>())
        record.thread = thread_ = static_cast<std::uint32_t>(next->index);
    if (record.body.ok() && (layout->head != format::Head::plain || is_whole(record)))
        return Step::record;
    damaged_ = true; // this record alone is bad: its length leads to the next
    return Step::nothing;
}

} // namespace vramscope::report
