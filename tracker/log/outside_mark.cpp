// tracker/log/outside_mark.cpp — finds a chunk of marks without a writer, or begins one.
#include "tracker/log/outside_mark.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracker/capture/clock.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/log_file.hpp"
#include "tracker/log/outside_lock.hpp"

namespace vramscope::log {
namespace {

using format::Tag;

constexpr std::uint32_t kNoTid = 0; // no thread has this number
constexpr std::size_t kHeadBytes = 8192;
constexpr std::size_t kHeadPayloadBytes = kHeadBytes - sizeof(format::ChunkHeader);
constexpr std::uint32_t kMostLookedAt = 4096; // chunks, from the newest back: a bound, not a need

// Against other processes that mark.
OutsideLock lock_of(int descriptor, std::uint32_t chunk) noexcept
{
    return OutsideLock(descriptor, offset_of_chunk(chunk), format::kChunkBytes);
}

// Writes the mark, whatever chunk it goes to. The thread has room for it.
void write_mark(Thread& thread, std::string_view name, format::Clock clock) noexcept
{
    write(thread, {capture::read_ticks(clock)}, format::Mark{name});
}

// Puts the thread after the last record of the chunk. False: the chunk holds something else than
// marks, or has no room.
bool go_on_in(Thread& thread, format::ChunkHeader* chunk) noexcept
{
    const std::uint32_t committed =
        std::atomic_ref(chunk->committed).load(std::memory_order_acquire);
    constexpr std::size_t kRoom =
        kPrefixBytes + format::most_body_bytes(format::Mark{}, 0) + kMostMarkBytes;
    if (committed > kHeadPayloadBytes - kRoom)
        return false;
    auto* const payload = reinterpret_cast<std::uint8_t*>(chunk + 1);
    format::Cursor in(payload, payload + committed);
    thread.deltas.ticks = chunk->base_ticks;
    while (!in.at_end()) {
        const Tag tag = static_cast<Tag>(in.u8());
        const std::string_view body = in.prefixed_text();
        if (!in.ok() || (tag != Tag::thread && tag != Tag::mark))
            return false;
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(body.data());
        format::Cursor fields(begin, begin + body.size());
        if (tag == Tag::mark)
            format::get_ticks(fields, thread.deltas);
        if (!fields.ok())
            return false;
    }
    thread.chunk = chunk;
    thread.at = payload + committed;
    thread.end = payload + kHeadPayloadBytes;
    return committed > 0; // at 0 its writer has not yet said what it is
}

// A lane of the writer's own, in a chunk that is fresh.
void begin_lane(Thread& thread, const LogFile& file) noexcept
{
    thread.index = thread.lane =
        std::atomic_ref(file.header()->threads).fetch_add(1, std::memory_order_relaxed);
}

bool mark_in_chunk(const LogFile& file, int descriptor, std::uint32_t index,
                   std::string_view name) noexcept
{
    const OutsideLock lock = lock_of(descriptor, index);
    format::ChunkHeader* const chunk =
        lock.held() ? file.map_chunk_head(index, kHeadBytes) : nullptr;
    if (!chunk)
        return false;
    Thread thread{};
    const bool usable = go_on_in(thread, chunk);
    if (usable)
        write_mark(thread, name, file.header()->clock);
    ::munmap(chunk, kHeadBytes);
    return usable;
}

bool is_chunk_of_marks(int descriptor, std::uint32_t index) noexcept
{
    format::ChunkHeader header;
    struct stat status;
    return ::pread(descriptor, &header, sizeof header, offset_of_chunk(index)) ==
               static_cast<ssize_t>(sizeof header) &&
           header.magic == format::kChunkMagic && header.tid == kNoTid && header.index == index &&
           ::fstat(descriptor, &status) == 0 && // what is past the end must not be touched
           status.st_size >= offset_of_chunk(index + 1);
}

bool mark_in_old_chunk(const LogFile& file, int descriptor, std::string_view name) noexcept
{
    const std::uint32_t chunks =
        std::atomic_ref(file.header()->chunks).load(std::memory_order_relaxed);
    for (std::uint32_t back = 1; back <= chunks && back <= kMostLookedAt; ++back)
        if (is_chunk_of_marks(descriptor, chunks - back) &&
            mark_in_chunk(file, descriptor, chunks - back, name))
            return true;
    return false;
}

// Chunks that no writer of marks takes for its own: they are not those of its thread.
class SearchChunks {
public:
    SearchChunks(LogFile& file, std::uint64_t ticks) noexcept : file_(file), ticks_(ticks) {}
    ~SearchChunks() { leave(); }
    SearchChunks(const SearchChunks&) = delete;
    SearchChunks& operator=(const SearchChunks&) = delete;

    template <typename R>
    bool put(const R& record) noexcept
    {
        const std::size_t most =
            kPrefixBytes + format::most_body_bytes(record, format::kMostTextBytes);
        if (!thread_.chunk || static_cast<std::size_t>(thread_.end - thread_.at) < most)
            begin();
        return thread_.chunk && write(thread_, {ticks_}, record);
    }

private:
    void begin() noexcept
    {
        leave();
        format::ChunkHeader* const chunk = file_.map_next_chunk_head(format::kChunkBytes);
        if (!chunk)
            return;
        if (thread_.chunks == 0)
            begin_lane(thread_, file_);
        begin_chunk(thread_, *file_.header(), chunk,
                    format::kChunkBytes - sizeof(format::ChunkHeader), ticks_, kSearchTid);
        write(thread_, format::Thread{thread_.index, kNoTid, "vramscope reach"});
    }
    void leave() noexcept
    {
        if (thread_.chunk)
            ::munmap(thread_.chunk, format::kChunkBytes);
        thread_.chunk = nullptr;
    }

    static constexpr std::uint32_t kSearchTid = UINT32_MAX; // what marks do not look at
    LogFile& file_;
    std::uint64_t ticks_;
    Thread thread_{};
};

bool mark_in_new_chunk(LogFile& file, int descriptor, std::string_view name) noexcept
{
    format::ChunkHeader* const chunk = file.map_next_chunk_head(kHeadBytes);
    if (!chunk)
        return false;
    const OutsideLock lock =
        lock_of(descriptor, chunk->index); // before the magic shows it to others
    const format::Clock clock = file.header()->clock;
    Thread thread{};
    begin_lane(thread, file);
    begin_chunk(thread, *file.header(), chunk, kHeadPayloadBytes, capture::read_ticks(clock),
                kNoTid);
    write(thread, format::Thread{thread.index, kNoTid, "vramscope mark"});
    write_mark(thread, name, clock);
    ::munmap(chunk, kHeadBytes);
    return true;
}

// Whatever `append` does with the log of this descriptor.
template <typename Append>
bool with_log(int descriptor, Append append) noexcept
{
    LogFile file;
    if (!file.adopt(descriptor))
        return false;
    const bool written = append(file);
    const int reason = errno;
    ::munmap(file.header(), format::kHeaderBytes);
    errno = reason;
    return written;
}

} // namespace

bool append_mark(int descriptor, std::string_view name) noexcept
{
    name = name.substr(0, kMostMarkBytes);
    return with_log(descriptor, [&](LogFile& file) {
        return mark_in_old_chunk(file, descriptor, name) ||
               mark_in_new_chunk(file, descriptor, name);
    });
}

bool append_search(int descriptor, std::uint64_t ticks, const format::Searched& searched,
                   std::span<const format::Reached> found) noexcept
{
    return with_log(descriptor, [&](LogFile& file) {
        SearchChunks chunks(file, ticks);
        return chunks.put(searched) &&
               std::all_of(found.begin(), found.end(),
                           [&](const format::Reached& reached) { return chunks.put(reached); });
    });
}

} // namespace vramscope::log
