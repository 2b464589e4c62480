// tracker/log/chunk_writer.cpp — from a full chunk to the next.
#include "tracker/log/chunk_writer.hpp"

#include "tracker/log/lifecycle.hpp"
#include "tracker/log/log_file.hpp"

namespace vramscope::log {
namespace {

constexpr std::uint32_t kEventsBetweenTries = 1000;

} // namespace

[[gnu::noinline, gnu::cold]] bool next_chunk(Thread& thread) noexcept
{
    if (thread.retry_in) {
        --thread.retry_in;
        return false;
    }
    format::ChunkHeader* chunk = Lifecycle::file().map_next_chunk();
    if (!chunk) {
        thread.retry_in = kEventsBetweenTries;
        thread.end = thread.at; // what would still fit must not come without what does not: an
                                // event, its stack
        Lifecycle::tell_once_log_full();
        return false;
    }
    if (thread.chunk) {
        thread.chunk->pending_api = 0; // it is about to be written down in the next one
        LogFile::unmap_chunk(thread.chunk);
    }
    thread.chunk = chunk;
    thread.at = reinterpret_cast<std::uint8_t*>(chunk + 1);
    thread.end = thread.at + format::kChunkPayloadBytes;
    thread.deltas = {};
    thread.deltas.ticks = now();
    thread.place = {};
    chunk->thread = thread.index;
    chunk->tid = Lifecycle::current_tid();
    chunk->ordinal = thread.chunks++;
    chunk->base_ticks = thread.deltas.ticks;
    chunk->base_ns = capture::clock_ns(CLOCK_MONOTONIC);
    std::atomic_ref(chunk->magic).store(format::kChunkMagic, std::memory_order_release);
    Lifecycle::renew_clock_pair();
    return true;
}

} // namespace vramscope::log
