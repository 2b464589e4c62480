// tracker/log/chunk_writer.hpp — bytes into the calling thread's chunk.
//
// The hot path of an event finds room, encodes into the mapped chunk, and ends with one release
// store of `committed`. A new chunk is the exception. A record that finds no room is lost, and
// counted if it is an event. The thread must be ready.
#pragma once

#include <atomic>

#include "tracker/log/process.hpp"

namespace vramscope::log {

inline void publish(Thread& thread, std::uint8_t* end) noexcept
{
    thread.at = end;
    const auto* payload = reinterpret_cast<const std::uint8_t*>(thread.chunk + 1);
    std::atomic_ref(thread.chunk->committed)
        .store(static_cast<std::uint32_t>(end - payload), std::memory_order_release);
}

// The record that says which thread wrote what follows in the chunk.
void write_thread(Thread& thread) noexcept;

// Gives the thread its next chunk. False: none can be had now, nor for a number of further tries.
bool next_chunk(Thread& thread) noexcept;

// Gives the thread a fresh chunk of the log with this header, and writes in it whose it is. The
// magic is written last.
void begin_chunk(Thread& thread, format::FileHeader& header, format::ChunkHeader* chunk,
                 std::size_t payload_bytes, std::uint64_t ticks, std::uint32_t tid) noexcept;

// Makes room for `bytes` at thread.at. False: the record is lost, and counted if it is an event.
inline bool reserve(Thread& thread, std::size_t bytes, bool event = true) noexcept
{
    if (static_cast<std::size_t>(thread.end - thread.at) >= bytes) [[likely]]
        return true;
    if (next_chunk(thread))
        return true;
    if (event)
        count_lost(log_file.at_limit() ? format::Lost::log_limit : format::Lost::no_space);
    return false;
}

// False: no chunk could be had a while ago, and what is new, as a stack, would not be written. It
// counts nothing as lost: the event that needs the stack may not come, or is counted by itself.
inline bool may_have_room(const Thread& thread) noexcept
{
    return thread.retry_in == 0;
}

// While no chunk can be had, an event is lost before its stack is taken, so that neither is written
// without the other.
inline bool has_chunk(Thread& thread) noexcept
{
    return may_have_room(thread) || reserve(thread, 2 * format::kMaxHotBytes);
}

// Writes tag and length. The length is a varint of always two bytes, so that nothing has to move.
inline constexpr std::size_t kPrefixBytes = 3;

// Writes any record but the hot ones. False: there was no room for it. Where there is no room for a
// definition, the event that needs it is lost too, and that event is counted.
template <typename R>
[[gnu::noinline]] bool write(Thread& thread, const format::Moment& moment, const R& record) noexcept
{
    static_assert(format::kMostBodyBytes<R> < (1u << 14), "the length is two varint bytes");
    constexpr format::Layout kLayout = R::kLayout;
    const std::size_t most = kPrefixBytes + format::most_body_bytes(record, format::kMostTextBytes);
    if (!reserve(thread, most, !format::is_definition(kLayout.head)))
        return false;
    std::uint8_t* const body = thread.at + kPrefixBytes;
    std::uint8_t* const end =
        format::put_body(body, moment, record, thread.deltas, format::kMostTextBytes);
    const auto length = static_cast<std::size_t>(end - body);
    body[-3] = static_cast<std::uint8_t>(kLayout.tag);
    body[-2] = static_cast<std::uint8_t>((length & 0x7f) | 0x80);
    body[-1] = static_cast<std::uint8_t>(length >> 7);
    publish(thread, end);
    return true;
}

template <typename R>
requires(R::kLayout.head == format::Head::definition) bool write(Thread& thread,
                                                                 const R& definition) noexcept
{
    return write(thread, {}, definition);
}

} // namespace vramscope::log
