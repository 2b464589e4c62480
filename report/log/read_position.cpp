// report/log/read_position.cpp — how far a log was read, and going on from there.
#include <algorithm>
#include <utility>

#include "report/log/log_reader.hpp"

namespace vramscope::report {

LogReader::Position LogReader::kept() const
{
    Position position{.indexed = indexed_,
                      .lanes = {},
                      .unbegun = unbegun_,
                      .begun = begun_,
                      .damaged_chunks = damaged_chunks_,
                      .missing_chunks = missing_chunks_,
                      .chunks = chunks_,
                      .chunks_read = chunks_read_,
                      .cut = cut_};
    for (const Lane& lane : lanes_)
        position.lanes.push_back(position_of(lane));
    // As they are where all of them are found at once: which comes first where times are equal.
    std::sort(position.lanes.begin(), position.lanes.end(),
              [](const LanePosition& a, const LanePosition& b) { return a.lane < b.lane; });
    return position;
}

// Of the chunk that is open records are counted: so a reader that goes on finds its place by
// reading them, and need not believe anything else.
LogReader::LanePosition LogReader::position_of(const Lane& lane) const
{
    const std::size_t first = lane.cursor ? lane.next_chunk - 1 : lane.next_chunk;
    LanePosition position{
        .lane = lane.chunks[first].lane, .opened = lane.cursor != nullptr, .chunks = {}};
    for (std::size_t at = first; at < lane.chunks.size(); ++at)
        position.chunks.push_back(lane.chunks[at].position);
    if (lane.cursor)
        position.records = lane.cursor->records() - lane.loaded; // that was not handed out
    return position;
}

bool LogReader::restore(const Position& position)
{
    lanes_.clear();
    lane_of_index_.clear();
    turns_.clear();
    pending_frees_.clear();
    started_ = false;
    std::uint32_t last = 0;
    const auto is_next = [&](const EmptyRun& run) {
        return std::exchange(last, run.end) <= run.first && run.first <= run.end &&
               run.end <= position.indexed;
    };
    if (position.indexed > file_.chunks() ||
        !std::all_of(position.unbegun.begin(), position.unbegun.end(), is_next))
        return false;
    indexed_ = position.indexed;
    for (const LanePosition& lane : position.lanes)
        if (!restore_lane(lane))
            return false;
    unbegun_ = position.unbegun;
    begun_ = position.begun;
    damaged_chunks_ = position.damaged_chunks;
    missing_chunks_ = position.missing_chunks;
    chunks_ = position.chunks;
    chunks_read_ = position.chunks_read;
    cut_ = position.cut;
    index_new_chunks();
    return true;
}

bool LogReader::restore_lane(const LanePosition& position)
{
    std::vector<Chunk> chunks;
    for (const std::uint32_t chunk : position.chunks)
        if (chunk >= indexed_ || !index_chunk(chunk, chunks))
            return false;
    if (chunks.empty() || chunks.size() != position.chunks.size() ||
        !lane_of_index_.try_emplace(position.lane, lanes_.size()).second)
        return false;
    for (const Chunk& chunk : chunks)
        if (chunk.lane != position.lane)
            return false;
    Lane& lane = lanes_.emplace_back();
    lane.chunks = std::move(chunks);
    Turn turn{.ticks = 0, .rank = 0, .lane = static_cast<std::uint32_t>(lanes_.size() - 1)};
    if (!position.opened) {
        turn.ticks = early_ticks(lane.chunks.front());
        add_turn(turn);
        return true;
    }
    lane.cursor = std::make_unique<ChunkCursor>(cursor_of(lane.chunks.front()));
    lane.next_chunk = 1;
    add_turn(turn);
    return lane.cursor->skip(position.records);
}

} // namespace vramscope::report
