// report/log/lost_chunks.cpp — by the header's count, or by what the chunks before say.
#include "report/log/lost_chunks.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

constexpr std::size_t kMostLookedAt = 4096;

// As tracker/log/chunk_writer.cpp hands chunks out: several at once to a lane with many of them.
constexpr std::uint32_t kAtOnce = 4;
constexpr std::uint32_t kBusyOrdinal = 16;

bool counts_begun(const format::FileHeader& header)
{
    return header.major > 4 || (header.major == 4 && header.minor >= 1);
}

format::ChunkHeader header_at(const LogFile& file, std::uint32_t position)
{
    format::ChunkHeader header{};
    file.read_at(file.chunk_offset(position), &header, sizeof header);
    return header;
}

// A thread that takes chunks writes the first one's position into it, before it is begun.
bool was_taken(const format::ChunkHeader& header, std::uint32_t position)
{
    return position > 0 && header.index == position;
}

// Adds it to one of the numbers, or to none: its thread stopped before it was begun.
void judge(const LogFile& file, std::uint32_t position, EmptyChunks& chunks)
{
    if (was_taken(header_at(file, position), position))
        return;
    for (std::uint32_t back = 1; back < kAtOnce && back <= position; ++back) {
        const format::ChunkHeader before = header_at(file, position - back);
        const bool begun = before.magic != 0;
        if (begun ? before.ordinal >= kBusyOrdinal : was_taken(before, position - back)) {
            ++chunks.unknown;
            return;
        }
        if (begun)
            break;
    }
    ++chunks.lost;
}

} // namespace

EmptyChunks judge_empty_chunks(const LogFile& file, std::uint64_t begun,
                               std::span<const EmptyRun> empty)
{
    const format::FileHeader& header = file.header();
    EmptyChunks chunks;
    if (counts_begun(header)) {
        chunks.lost = header.chunks_begun - std::min<std::uint64_t>(header.chunks_begun, begun);
        return chunks;
    }
    std::size_t looked_at = 0;
    for (const EmptyRun& run : empty)
        for (std::uint32_t at = run.first; at < run.end && looked_at++ < kMostLookedAt; ++at)
            judge(file, at, chunks);
    return chunks;
}

} // namespace vramscope::report
