// report/read/log_reader.cpp — the index of chunks and the merge.
#include "report/read/log_reader.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace vramscope::report {

using format::Tag;

namespace {

// A chunk's first record may be older than the chunk: a free is stamped before its driver call, the
// chunk is taken after it. So a thread is opened this much before its first chunk's time.
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
    return rank != other.rank ? rank < other.rank : thread < other.thread;
}

LogReader::LogReader(const LogFile& file) : file_(file), clock_(file.header()), cut_(file.cut())
{
    index_chunks();
    group_by_thread();
}

void LogReader::index_chunks()
{
    for (std::uint32_t position = 0; position < file_.chunks(); ++position) {
        if (!index_chunk(position))
            ++damaged_chunks_;
    }
}

// False if the chunk is damaged. Its whole records are read even so, if it says whose they are.
bool LogReader::index_chunk(std::uint32_t position)
{
    format::ChunkHeader header;
    const std::size_t got = file_.read_at(file_.chunk_offset(position), &header, sizeof header);
    if (got < sizeof header) {
        cut_ = true;
        return true;
    }
    if (header.magic == 0)
        return true; // handed out, and its thread stopped before it could begin
    if (header.magic != format::kChunkMagic)
        return false;
    const auto payload = static_cast<std::uint32_t>(file_.header().chunk_bytes - sizeof header);
    chunks_.push_back({.position = position,
                       .thread = header.thread,
                       .ordinal = header.ordinal,
                       .committed = std::min(header.committed, payload),
                       .base_ticks = header.base_ticks});
    if (file_.header().clock == format::Clock::tsc)
        clock_.calibrate(header.base_ticks, header.base_ns);
    return header.committed <= payload && header.index == position;
}

void LogReader::group_by_thread()
{
    std::sort(chunks_.begin(), chunks_.end(), [](const Chunk& a, const Chunk& b) {
        return std::tie(a.thread, a.ordinal, a.position) <
               std::tie(b.thread, b.ordinal, b.position);
    });
    for (std::size_t at = 0; at < chunks_.size(); ++at) {
        const bool first = at == 0 || chunks_[at].thread != chunks_[at - 1].thread;
        if (first) {
            threads_.push_back(
                {.first_chunk = at, .end_chunk = at, .next_chunk = at, .cursor = {}, .record = {}});
            const std::uint64_t base = chunks_[at].base_ticks;
            turns_.push_back({.ticks = base > kEarlyTicks ? base - kEarlyTicks : 0,
                              .rank = 0,
                              .thread = static_cast<std::uint32_t>(threads_.size() - 1)});
        }
        const std::uint32_t expected = first ? 0 : chunks_[at - 1].ordinal + 1;
        if (chunks_[at].ordinal != expected)
            ++damaged_chunks_; // a chunk of this thread is missing, or there twice
        threads_.back().end_chunk = at + 1;
    }
    std::sort(turns_.begin(), turns_.end()); // a sorted row is a heap
}

ChunkCursor LogReader::cursor_of(const Chunk& chunk) const
{
    return {file_, file_.chunk_offset(chunk.position) + sizeof(format::ChunkHeader),
            chunk.committed, chunk.base_ticks, chunk.thread};
}

const Record* LogReader::next()
{
    bool step = started_;
    started_ = true;
    while (!turns_.empty()) {
        Thread& thread = threads_[turns_.front().thread];
        const bool unopened = !thread.cursor;
        if (!step && !unopened)
            return &thread.record;
        step = false;
        if (!advance(thread)) {
            drop_first_turn();
            continue;
        }
        if (!thread.record.timed)
            return &thread.record;
        turns_.front().ticks = thread.record.ticks;
        turns_.front().rank = rank_of(thread.record.tag);
        settle_first_turn();
    }
    return nullptr;
}

bool LogReader::advance(Thread& thread)
{
    for (;;) {
        if (thread.cursor && thread.cursor->next(thread.record))
            return true;
        close_cursor(thread);
        if (thread.next_chunk == thread.end_chunk)
            return false;
        thread.cursor = std::make_unique<ChunkCursor>(cursor_of(chunks_[thread.next_chunk++]));
    }
}

void LogReader::close_cursor(Thread& thread)
{
    if (!thread.cursor)
        return;
    cut_ = cut_ || thread.cursor->cut();
    damaged_chunks_ += thread.cursor->damaged();
    ++chunks_read_;
    thread.cursor.reset();
}

// The first turn got a later time: sift it down to its place.
void LogReader::settle_first_turn()
{
    const Turn turn = turns_.front();
    std::size_t at = 0;
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= turns_.size())
            break;
        if (child + 1 < turns_.size() && turns_[child + 1] < turns_[child])
            ++child;
        if (!(turns_[child] < turn))
            break;
        turns_[at] = turns_[child];
        at = child;
    }
    turns_[at] = turn;
}

void LogReader::drop_first_turn()
{
    turns_.front() = turns_.back();
    turns_.pop_back();
    if (!turns_.empty())
        settle_first_turn();
}

double LogReader::fraction_read() const noexcept
{
    return chunks_.empty()
               ? 1.0
               : static_cast<double>(chunks_read_) / static_cast<double>(chunks_.size());
}

} // namespace vramscope::report
