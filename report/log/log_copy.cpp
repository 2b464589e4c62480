// report/log/log_copy.cpp — chunk by chunk: how far it goes, and its bytes up to there.
#include "report/log/log_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::report {
namespace {

bool write_at(int descriptor, const void* bytes, std::size_t count, std::uint64_t offset)
{
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::pwrite(descriptor, at, count, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        offset += static_cast<std::uint64_t>(written);
        count -= static_cast<std::size_t>(written);
    }
    return true;
}

// The bytes of all records before the first later one. What cannot be read stays in the copy, for a
// report to tell of it.
std::uint32_t bytes_until(const LogFile& log, std::uint32_t position,
                          const format::ChunkHeader& header, std::uint64_t ticks)
{
    ChunkCursor cursor(log, log.chunk_offset(position) + sizeof header, header.committed,
                       header.base_ticks, header.lane);
    Record record;
    std::uint32_t whole = 0;
    while (cursor.next(record)) {
        if (record.timed && record.ticks > ticks)
            return whole;
        whole = cursor.consumed();
    }
    return header.committed;
}

// Whole, if it is of the checkpoint that holds.
bool copy_chunk_of_checkpoint(const LogFile& log, std::uint32_t position, int descriptor)
{
    std::vector<char> chunk(log.header().chunk_bytes);
    chunk.resize(log.read_at(log.chunk_offset(position), chunk.data(), chunk.size()));
    format::CheckpointChunk head{};
    std::memcpy(&head, chunk.data(), std::min(chunk.size(), sizeof head));
    return !log.collected() || head.number != log.header().checkpoint >> 32 ||
           write_at(descriptor, chunk.data(), chunk.size(), log.chunk_offset(position));
}

// `begun`: of those that are in the copy.
bool copy_chunk(const LogFile& log, std::uint32_t position, std::uint64_t ticks, int descriptor,
                std::uint32_t& begun)
{
    const std::uint64_t offset = log.chunk_offset(position);
    format::ChunkHeader header;
    const std::size_t got = log.read_at(offset, &header, sizeof header);
    if (got == sizeof header && header.magic == format::kCheckpointMagic)
        return copy_chunk_of_checkpoint(log, position, descriptor);
    if (got != sizeof header || header.magic != format::kChunkMagic || header.base_ticks > ticks)
        return true; // not begun by then: zeros, as the one before it in its lane may have been
    ++begun;
    const auto most = static_cast<std::uint32_t>(log.header().chunk_bytes - sizeof header);
    header.committed = std::min(header.committed, most);
    header.committed = bytes_until(log, position, header, ticks);
    std::vector<std::uint8_t> payload(header.committed);
    payload.resize(log.read_at(offset + sizeof header, payload.data(), payload.size()));
    return write_at(descriptor, &header, sizeof header, offset) &&
           write_at(descriptor, payload.data(), payload.size(), offset + sizeof header);
}

} // namespace

bool copy_log(const LogFile& log, std::uint64_t ticks, int descriptor)
{
    format::FileHeader header = log.header();
    header.chunks = log.chunks();
    std::uint32_t begun = 0;
    for (std::uint32_t position = 0;
         (position = log.next_chunk_with_data(position)) < header.chunks; ++position)
        if (!copy_chunk(log, position, ticks, descriptor, begun))
            return false;
    if (ticks != kWholeLog) {
        header.snapshot_ticks = ticks;
        header.chunks_begun = begun;
    }
    return ::ftruncate(descriptor, static_cast<off_t>(log.chunk_offset(header.chunks))) == 0 &&
           write_at(descriptor, &header, sizeof header, 0);
}

} // namespace vramscope::report
