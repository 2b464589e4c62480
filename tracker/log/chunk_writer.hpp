// tracker/log/chunk_writer.hpp — bytes into the calling thread's chunk.
//
// The hot path of an event: room is there, encode into the mapped chunk, one release store of
// `committed`. A new chunk is the exception. What finds no room is lost, and counted if it is an
// event. The thread must be ready.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "tracker/log/recorder.hpp"

namespace vramscope::log {

inline void publish(Thread& thread, std::uint8_t* end) noexcept
{
    thread.at = end;
    const auto* payload = reinterpret_cast<const std::uint8_t*>(thread.chunk + 1);
    std::atomic_ref(thread.chunk->committed)
        .store(static_cast<std::uint32_t>(end - payload), std::memory_order_release);
}

// The record by which a chunk says whose records follow.
void write_thread(Thread& thread) noexcept;

// Gives the thread its next chunk. False: there is none to be had, for a number of tries.
bool next_chunk(Thread& thread) noexcept;

// Makes a fresh chunk the thread's, and says in it whose it is: the magic last.
void begin_chunk(Thread& thread, format::ChunkHeader* chunk, std::size_t payload_bytes,
                 std::uint64_t ticks, std::uint32_t tid) noexcept;

// Room for `bytes` at thread.at. False: the record is lost, and counted if it is an event.
inline bool reserve(Thread& thread, std::size_t bytes, bool event = true) noexcept
{
    if (static_cast<std::size_t>(thread.end - thread.at) >= bytes) [[likely]]
        return true;
    if (next_chunk(thread))
        return true;
    if (event)
        count_lost(format::Lost::no_space);
    return false;
}

// While chunks are not to be had, an event is lost before its stack is taken: not the one without
// the other.
inline bool has_chunk(Thread& thread) noexcept
{
    return thread.retry_in == 0 || reserve(thread, 2 * format::kMaxHotBytes);
}

// Records that only say what others mean. Where there is no room for one, the event that needs it
// is lost too.
constexpr bool is_definition(format::Tag tag) noexcept
{
    switch (tag) {
    case format::Tag::info:
    case format::Tag::api:
    case format::Tag::thread:
    case format::Tag::module_loaded:
    case format::Tag::module_gone:
    case format::Tag::stack:
    case format::Tag::context:
    case format::Tag::device:
    case format::Tag::pool:
        return true;
    default:
        return false;
    }
}

// A length-prefixed record, built in place. The length is one fixed two-byte varint, so that
// nothing moves.
class Body {
public:
    Body(Thread& thread, format::Tag tag, std::size_t most_bytes) noexcept
        : thread_(thread), ok_(reserve(thread, most_bytes + 3, !is_definition(tag)))
    {
        if (!ok_)
            return;
        *thread.at = static_cast<std::uint8_t>(tag);
        start_ = at_ = thread.at + 3;
    }
    ~Body()
    {
        if (!ok_)
            return;
        const auto length = static_cast<std::size_t>(at_ - start_);
        start_[-2] = static_cast<std::uint8_t>((length & 0x7f) | 0x80);
        start_[-1] = static_cast<std::uint8_t>(length >> 7);
        publish(thread_, at_);
    }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    Body& number(std::uint64_t value) noexcept
    {
        if (ok_)
            at_ = format::put_varint(at_, value);
        return *this;
    }
    Body& signed_number(std::int64_t value) noexcept { return number(format::zigzag(value)); }
    Body& ticks(std::uint64_t value) noexcept
    {
        if (ok_)
            at_ = format::put_ticks(at_, value, thread_.deltas);
        return *this;
    }
    Body& text(std::string_view value) noexcept
    {
        value = value.substr(0, kMostTextBytes);
        number(value.size());
        if (ok_ && !value.empty())
            at_ = static_cast<std::uint8_t*>(std::memcpy(at_, value.data(), value.size())) +
                  value.size();
        return *this;
    }
    bool ok() const noexcept { return ok_; }

    static constexpr std::size_t kMostTextBytes = 4096;
    static constexpr std::size_t kMostBytes = 70 + 2 * (kMostTextBytes + 3);
    static_assert(kMostBytes < (1u << 14), "the length is two varint bytes");

private:
    Thread& thread_;
    std::uint8_t* start_ = nullptr;
    std::uint8_t* at_ = nullptr;
    bool ok_;
};

inline std::size_t text_bytes(std::string_view text) noexcept
{
    return std::min(text.size(), Body::kMostTextBytes) + 3;
}

// What the numbers of any body take at most.
inline constexpr std::size_t kNumbers = 7 * format::kMaxVarintBytes;

} // namespace vramscope::log
