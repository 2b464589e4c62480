// report/log/log_reader.cpp — the index of chunks and the merge.
#include "report/log/log_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace vramscope::report {

using format::Tag;

namespace {

// A chunk's first record may be older than the chunk: a free is stamped before its driver call, the
// chunk is taken after it. So a lane is opened this much before its first chunk's time.
constexpr std::uint64_t kEarlyTicks = std::uint64_t{1} << 32;

std::uint32_t rank_of(Tag tag) noexcept
{
    switch (tag) {
    case Tag::free:
    case Tag::unmap:
        return 0;
    case Tag::context_gone:
        return 1;
    case Tag::alloc:
        return 3;
    default:
        return 2;
    }
}

} // namespace

bool LogReader::Turn::operator<(const Turn& other) const noexcept
{
    if (ticks != other.ticks)
        return ticks < other.ticks;
    return rank != other.rank ? rank < other.rank : lane < other.lane;
}

LogReader::LogReader(const LogFile& file) : file_(file), clock_(file.header())
{
    index_new_chunks();
}

void LogReader::refresh()
{
    index_new_chunks();
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
        Lane& lane = lanes_[at];
        if (!lane.waiting)
            continue;
        lane.waiting = false;
        add_turn({.ticks = 0, .rank = 0, .lane = static_cast<std::uint32_t>(at)});
    }
}

void LogReader::index_new_chunks()
{
    std::vector<Chunk> found;
    index_chunks({indexed_, std::max(indexed_, file_.chunks())}, found);
    indexed_ = std::max(indexed_, file_.chunks());
    // While the program runs, a thread may begin a chunk and fill it after we looked at it, and
    // begin the lane's next one before we look at that. So we look until none was begun.
    for (std::size_t before = SIZE_MAX; found.size() != before;) {
        before = found.size();
        for (const EmptyRun& run : std::exchange(unbegun_, {}))
            index_chunks(run, found);
    }
    std::sort(found.begin(), found.end(), [](const Chunk& a, const Chunk& b) {
        return std::tie(a.lane, a.ordinal, a.position) < std::tie(b.lane, b.ordinal, b.position);
    });
    for (const Chunk& chunk : found)
        add_to_lane(chunk);
}

// A log may be a file of a terabyte that is nearly all a hole: that costs a question.
void LogReader::index_chunks(EmptyRun run, std::vector<Chunk>& found)
{
    for (std::uint32_t position = run.first; position < run.end;) {
        if (index_chunk(position, found)) {
            ++position;
            continue;
        }
        const std::uint32_t next = std::min(run.end, file_.next_chunk_with_data(position + 1));
        if (!unbegun_.empty() && unbegun_.back().end == position)
            unbegun_.back().end = next;
        else
            unbegun_.push_back({position, next});
        position = next;
    }
}

// False: it is empty. The whole records of a damaged chunk are read even so, if it says whose they
// are.
bool LogReader::index_chunk(std::uint32_t position, std::vector<Chunk>& found)
{
    format::ChunkHeader header;
    const std::size_t got = file_.read_at(file_.chunk_offset(position), &header, sizeof header);
    if (got < sizeof header) {
        cut_ = true;
        return true;
    }
    // Handed out: its thread is about to begin it, or stopped before that, or it was lost.
    if (header.magic == 0 && header.committed == 0)
        return false;
    if (header.magic == format::kCheckpointMagic &&
        file_.header().major == format::kCollectedMajorVersion)
        return true; // no thread's
    ++begun_;
    const auto payload = static_cast<std::uint32_t>(file_.header().chunk_bytes - sizeof header);
    if (header.magic != format::kChunkMagic || header.committed > payload ||
        header.index != position)
        ++damaged_chunks_;
    if (header.magic != format::kChunkMagic)
        return true;
    found.push_back({.position = position,
                     .lane = header.lane,
                     .ordinal = header.ordinal,
                     .committed = std::min(header.committed, payload),
                     .base_ticks = header.base_ticks});
    if (header.pending_api != 0)
        pending_frees_.push_back({.api = header.pending_api - 1u,
                                  .address = header.pending_address,
                                  .ticks = header.pending_ticks,
                                  .stack = header.pending_stack});
    if (file_.header().clock == format::Clock::tsc)
        clock_.calibrate(header.base_ticks, header.base_ns);
    return true;
}

void LogReader::add_to_lane(const Chunk& chunk)
{
    const auto [at, first] = lane_of_index_.try_emplace(chunk.lane, lanes_.size());
    if (first) {
        lanes_.emplace_back();
        add_turn({.ticks = early_ticks(chunk),
                  .rank = 0,
                  .lane = static_cast<std::uint32_t>(at->second)});
    }
    std::vector<Chunk>& chunks = lanes_[at->second].chunks;
    if (chunk.ordinal != (first ? 0 : chunks.back().ordinal + 1))
        ++missing_chunks_; // of this thread, or one is there twice
    chunks.push_back(chunk);
    ++chunks_;
}

std::uint64_t LogReader::early_ticks(const Chunk& chunk) noexcept
{
    return chunk.base_ticks > kEarlyTicks ? chunk.base_ticks - kEarlyTicks : 0;
}

// How much of the chunk its thread has published by now.
std::uint32_t LogReader::committed_now(const Chunk& chunk) const
{
    std::uint32_t committed = 0;
    const auto payload =
        static_cast<std::uint32_t>(file_.header().chunk_bytes - sizeof(format::ChunkHeader));
    file_.read_at(file_.chunk_offset(chunk.position) + offsetof(format::ChunkHeader, committed),
                  &committed, sizeof committed);
    return std::min(committed, payload);
}

ChunkCursor LogReader::cursor_of(const Chunk& chunk) const
{
    return {file_, file_.chunk_offset(chunk.position) + sizeof(format::ChunkHeader),
            chunk.committed, chunk.base_ticks, chunk.lane};
}

const Record* LogReader::next()
{
    if (std::exchange(started_, false))
        step();
    while (!turns_.empty()) {
        const Lane& lane = lanes_[turns_.front().lane];
        if (lane.loaded) {
            if (lane.record.timed && turns_.front().ticks > until_)
                return nullptr;
            started_ = true;
            return &lane.record;
        }
        step();
    }
    return nullptr;
}

std::size_t LogReader::next_hot(std::span<Record> to)
{
    if (!started_)
        return 0;
    Turn& first = turns_.front();
    Lane& lane = lanes_[first.lane];
    Turn bound{.ticks = until_, .rank = UINT32_MAX, .lane = 0};
    for (std::size_t child = 1; child < std::min<std::size_t>(turns_.size(), 3); ++child)
        bound = std::min(bound, turns_[child]);
    bool in_turn = true;
    const std::size_t count = lane.cursor->next_hot(to, [&](const Record& record) {
        if (record.ticks < bound.ticks) [[likely]]
            return true;
        in_turn = Turn{record.ticks, rank_of(record.tag), first.lane} < bound;
        return in_turn;
    });
    if (count > 0) {
        first.ticks = to[count - 1].ticks;
        first.rank = rank_of(to[count - 1].tag);
    }
    if (in_turn)
        return count;
    started_ = false; // the last one waits for its turn
    lane.record = to[count - 1];
    settle_first_turn();
    return count - 1;
}

// The first lane goes on to its next record, and to its place. One without a time stays the first.
void LogReader::step()
{
    Turn& first = turns_.front();
    Lane& lane = lanes_[first.lane];
    lane.loaded = (lane.cursor && lane.cursor->next(lane.record)) || advance(lane);
    if (!lane.loaded) {
        lane.waiting = true;
        drop_first_turn();
    } else if (lane.record.timed) {
        first.ticks = lane.record.ticks;
        first.rank = rank_of(lane.record.tag);
        if (turns_.size() > 1)
            settle_first_turn();
    }
}

// A chunk is complete once its thread has begun another: only then is it known how far it goes. The
// last one of a thread may always grow.
bool LogReader::advance(Lane& lane)
{
    for (;;) {
        if (lane.cursor) {
            lane.cursor->extend(committed_now(lane.chunks[lane.next_chunk - 1]));
            if (lane.cursor->next(lane.record))
                return true;
        }
        if (lane.next_chunk == lane.chunks.size()) {
            lane.cursor->rest();
            return false;
        }
        close_cursor(lane);
        lane.cursor = std::make_unique<ChunkCursor>(cursor_of(lane.chunks[lane.next_chunk++]));
        if (lane.cursor->next(lane.record))
            return true;
    }
}

void LogReader::close_cursor(Lane& lane)
{
    if (!lane.cursor)
        return;
    cut_ = cut_ || lane.cursor->cut();
    damaged_chunks_ += lane.cursor->damaged();
    ++chunks_read_;
    lane.cursor.reset();
}

void LogReader::add_turn(Turn turn)
{
    turns_.push_back(turn);
    const auto later = [](const Turn& a, const Turn& b) { return b < a; };
    std::push_heap(turns_.begin(), turns_.end(), later);
}

// The first turn has another time than before: sift it down to its place.
void LogReader::settle_first_turn()
{
    const auto least_child = [this](std::size_t at) {
        const std::size_t child = 2 * at + 1;
        return child + (child + 1 < turns_.size() && turns_[child + 1] < turns_[child]);
    };
    for (std::size_t at = 0, child = least_child(at);
         child < turns_.size() && turns_[child] < turns_[at]; child = least_child(at)) {
        std::swap(turns_[at], turns_[child]);
        at = child;
    }
}

void LogReader::drop_first_turn()
{
    turns_.front() = turns_.back();
    turns_.pop_back();
    settle_first_turn();
}

bool LogReader::cut() const noexcept
{
    return cut_ || file_.cut() || std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
               return lane.cursor && lane.cursor->cut();
           });
}

std::uint64_t LogReader::damaged_chunks() const
{
    // One that is missing in its lane is empty, unless it was written over.
    std::uint64_t damaged = damaged_chunks_ + std::max(missing_chunks_, empty_chunks().lost);
    for (const Lane& lane : lanes_)
        damaged += lane.cursor && lane.cursor->damaged();
    return damaged;
}

// What is not there of a file that is cut is not damaged.
EmptyChunks LogReader::empty_chunks() const
{
    return file_.cut() ? EmptyChunks{} : judge_empty_chunks(file_, begun_, unbegun_);
}

double LogReader::fraction_read() const noexcept
{
    return chunks_ == 0 ? 1.0 : static_cast<double>(chunks_read_) / static_cast<double>(chunks_);
}

} // namespace vramscope::report
