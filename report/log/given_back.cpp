// report/log/given_back.cpp — all chunks but those that are needed.
#include "report/log/given_back.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

std::vector<EmptyRun> needed_chunks(const LogFile& file, const LogReader::Position& position)
{
    std::vector<EmptyRun> needed = position.unbegun; // their threads may yet begin them
    for (const LogReader::LanePosition& lane : position.lanes)
        for (const std::uint32_t chunk : lane.chunks)
            needed.push_back({chunk, chunk + 1});
    for (const format::CheckpointRow& row : file.header().checkpoint_rows)
        if (row.chunks > 0)
            needed.push_back({row.first, row.first + row.chunks});
    std::sort(needed.begin(), needed.end(),
              [](const EmptyRun& a, const EmptyRun& b) { return a.first < b.first; });
    needed.push_back({position.indexed, UINT32_MAX});
    return needed;
}

} // namespace

std::vector<EmptyRun> chunks_to_give_back(const LogFile& file, const LogReader::Position& position)
{
    std::vector<EmptyRun> runs;
    std::uint32_t from = 0;
    for (const EmptyRun& needed : needed_chunks(file, position)) {
        const std::uint32_t end = std::min(needed.first, position.indexed);
        const std::uint32_t first = from < end ? file.next_chunk_with_data(from) : end;
        if (first < end)
            runs.push_back({first, end});
        from = std::max(from, needed.end);
    }
    return runs;
}

} // namespace vramscope::report
