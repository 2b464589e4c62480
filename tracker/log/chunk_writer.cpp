// tracker/log/chunk_writer.cpp — from a full chunk to the next.
#include "tracker/log/chunk_writer.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracker/capture/signals.hpp"

namespace vramscope::log {
namespace {

constexpr std::uint32_t kEventsBetweenTries = 1000;

// A thread that fills one chunk after another gets several at once, for half of the kernel's work.
// What may stay unused is a fifth of what it has written.
std::uint32_t chunks_at_once(const Thread& thread) noexcept
{
    constexpr std::uint32_t kMany = 16;
    constexpr std::uint64_t kSoonNs = 50'000'000;
    const bool busy = thread.chunk && thread.chunks >= kMany &&
                      capture::clock_ns(CLOCK_MONOTONIC) - thread.chunk->base_ns < kSoonNs;
    return busy ? LogFile::kMostAtOnce : 1;
}

std::uint32_t current_tid() noexcept
{
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

} // namespace

void write_thread(Thread& thread) noexcept
{
    char name[32] = {};
    ::prctl(PR_GET_NAME, name);
    write(thread, format::Thread{thread.index, current_tid(), name});
}

[[gnu::noinline, gnu::cold]] bool next_chunk(Thread& thread) noexcept
{
    if (thread.retry_in) {
        --thread.retry_in;
        return false;
    }
    const capture::SignalsHeld held;
    format::ChunkHeader* const next = thread.row.after(thread.chunk);
    const ChunkRow row = next ? thread.row : log_file.map_next_chunks(chunks_at_once(thread));
    format::ChunkHeader* const chunk = next ? next : row.first;
    if (!chunk) {
        thread.retry_in = kEventsBetweenTries;
        // What would still fit must not come without what does not, as an event without its stack.
        thread.end = thread.at;
        note_log_full();
        return false;
    }
    if (thread.chunk)
        thread.chunk->pending_api = 0; // it is about to be written down in the next one
    if (next)
        next->index = thread.chunk->index + 1;
    else if (thread.chunk)
        LogFile::unmap_chunks(thread.row);
    thread.row = row;
    begin_chunk(thread, *log_file.header(), chunk, format::kChunkPayloadBytes, now(),
                current_tid());
    renew_clock_pair();
    write_thread(thread);
    return true;
}

void begin_chunk(Thread& thread, format::FileHeader& header, format::ChunkHeader* chunk,
                 std::size_t payload_bytes, std::uint64_t ticks, std::uint32_t tid) noexcept
{
    thread.chunk = chunk;
    thread.at = reinterpret_cast<std::uint8_t*>(chunk + 1);
    thread.end = thread.at + payload_bytes;
    thread.deltas = {};
    thread.deltas.ticks = ticks;
    thread.place = {};
    chunk->lane = thread.lane;
    chunk->tid = tid;
    chunk->ordinal = thread.chunks++;
    chunk->base_ticks = ticks;
    chunk->base_ns = capture::clock_ns(CLOCK_MONOTONIC);
    std::atomic_ref(chunk->magic).store(format::kChunkMagic, std::memory_order_release);
    std::atomic_ref(header.chunks_begun).fetch_add(1, std::memory_order_release);
}

} // namespace vramscope::log
