// tracker/log/recorder.cpp — events into the calling thread's chunk.
//
// The hot path of an event: encode into the mapped chunk, one release store of `committed`. A new
// chunk, a new stack and a new place are the exceptions and stand in cold functions.
#include "tracker/log/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tracker/capture/modules.hpp"
#include "tracker/capture/stack_table.hpp"
#include "tracker/capture/unwinder.hpp"
#include "tracker/log/lifecycle.hpp"
#include "tracker/log/log_file.hpp"
#include "tracker/log/settings.hpp"

namespace vramscope::log {

using format::Lost;
using format::Tag;

thread_local constinit Thread this_thread{};

namespace {

constexpr std::uint32_t kEventsBetweenTries = 1000;

void publish(Thread& thread, std::uint8_t* end) noexcept
{
    thread.at = end;
    const auto* payload = reinterpret_cast<const std::uint8_t*>(thread.chunk + 1);
    std::atomic_ref(thread.chunk->committed)
        .store(static_cast<std::uint32_t>(end - payload), std::memory_order_release);
}

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
    if (thread.chunk)
        LogFile::unmap_chunk(thread.chunk);
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

// Room for `bytes` at thread.at. False: the record is lost, and counted if it is an event.
bool reserve(Thread& thread, std::size_t bytes, bool event = true) noexcept
{
    if (static_cast<std::size_t>(thread.end - thread.at) >= bytes) [[likely]]
        return true;
    if (next_chunk(thread))
        return true;
    if (event)
        count_lost(Lost::no_space);
    return false;
}

// While chunks are not to be had, an event is lost before its stack is taken: not the one without
// the other.
bool has_chunk(Thread& thread) noexcept
{
    return thread.retry_in == 0 || reserve(thread, 2 * format::kMaxHotBytes);
}

// Records that only say what others mean. Where there is no room for one, the event that needs it
// is lost too.
constexpr bool is_definition(Tag tag) noexcept
{
    switch (tag) {
    case Tag::info:
    case Tag::api:
    case Tag::thread:
    case Tag::module_loaded:
    case Tag::module_gone:
    case Tag::stack:
    case Tag::context:
    case Tag::device:
        return true;
    default:
        return false;
    }
}

// A length-prefixed record, built in place. The length is one fixed two-byte varint, so that
// nothing moves.
class Body {
public:
    Body(Thread& thread, Tag tag, std::size_t most_bytes) noexcept
        : thread_(thread), ok_(reserve(thread, most_bytes + 3, !is_definition(tag)))
    {
        if (!ok_)
            return;
        *thread.at = static_cast<std::uint8_t>(tag);
        start_ = at_ = thread.at + 3;
    }
    ~Body()
    {
        if (!ok_)
            return;
        const auto length = static_cast<std::size_t>(at_ - start_);
        start_[-2] = static_cast<std::uint8_t>((length & 0x7f) | 0x80);
        start_[-1] = static_cast<std::uint8_t>(length >> 7);
        publish(thread_, at_);
    }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    Body& number(std::uint64_t value) noexcept
    {
        if (ok_)
            at_ = format::put_varint(at_, value);
        return *this;
    }
    Body& signed_number(std::int64_t value) noexcept { return number(format::zigzag(value)); }
    Body& ticks(std::uint64_t value) noexcept
    {
        if (ok_)
            at_ = format::put_ticks(at_, value, thread_.deltas);
        return *this;
    }
    Body& text(std::string_view value) noexcept
    {
        value = value.substr(0, kMostTextBytes);
        number(value.size());
        if (ok_ && !value.empty())
            at_ = static_cast<std::uint8_t*>(std::memcpy(at_, value.data(), value.size())) +
                  value.size();
        return *this;
    }
    bool ok() const noexcept { return ok_; }

    static constexpr std::size_t kMostTextBytes = 4096;
    static constexpr std::size_t kMostBytes = 60 + 2 * (kMostTextBytes + 3);
    static_assert(kMostBytes < (1u << 14), "the length is two varint bytes");

private:
    Thread& thread_;
    std::uint8_t* start_ = nullptr;
    std::uint8_t* at_ = nullptr;
    bool ok_;
};

std::size_t text_bytes(std::string_view text) noexcept
{
    return std::min(text.size(), Body::kMostTextBytes) + 3;
}

constexpr std::size_t kNumbers = 6 * format::kMaxVarintBytes;

// ---- stacks ----

bool write_stack(Thread& thread, std::uint32_t id, const std::uintptr_t* frames, std::size_t count,
                 bool truncated) noexcept
{
    Body body(thread, Tag::stack, kNumbers + count * format::kMaxVarintBytes);
    body.number(id).number(truncated ? std::uint64_t{format::kStackTruncated} : 0).number(count);
    std::uintptr_t previous = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i == 0)
            body.number(frames[0]);
        else
            body.signed_number(static_cast<std::int64_t>(frames[i] - previous));
        previous = frames[i];
    }
    return body.ok();
}

// A stack that no thread has seen: its modules first, then the stack, then its id for everyone.
[[gnu::noinline, gnu::cold]] std::uint32_t intern_new(Thread& thread, const std::uintptr_t* frames,
                                                      std::size_t count, bool truncated,
                                                      std::uint64_t hash) noexcept
{
    auto& table = Lifecycle::stack_table();
    note_modules(thread);
    const std::uint32_t id = table.new_id();
    if (id == 0) {
        count_lost(Lost::table_full);
        return 0;
    }
    if (!write_stack(thread, id, frames, count, truncated))
        return 0;
    Lifecycle::renew_clock_pair();
    return table.publish(hash, frames, count, id);
}

[[gnu::noinline]] std::uint32_t unwind_stack(Thread& thread, const CallSite& site,
                                             std::uint32_t expected) noexcept
{
    std::uintptr_t frames[capture::kMaxFrames];
    bool truncated = false;
    const std::size_t count =
        capture::unwind(site.return_address, frames, settings().max_frames, truncated);
    if (count == 0)
        return 0;
    std::atomic_ref(process->header->stacks_unwound).fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t epoch = Lifecycle::modules().unload_epoch();
    const std::uint64_t hash = capture::hash_frames(frames, count, epoch);
    std::uint32_t id = Lifecycle::stack_table().find(hash, frames, count);
    if (!id)
        id = intern_new(thread, frames, count, truncated, hash);
    if (expected && expected != id) {
        std::atomic_ref(process->header->verify_mismatches).fetch_add(1, std::memory_order_relaxed);
        Lifecycle::stop_verifying();
    }
    if (id && thread.stacks && !expected)
        thread.stacks->learn(site.frame, frames, count, truncated, id, epoch);
    return id;
}

std::uint32_t stack_of(Thread& thread, const CallSite& site) noexcept
{
    if (!thread.stacks || !Lifecycle::verifying())
        return unwind_stack(thread, site, 0);
    const std::uint32_t id =
        thread.stacks->find(site.frame, site.return_address, Lifecycle::modules().unload_epoch());
    if (!id)
        return unwind_stack(thread, site, 0);
    if (++thread.verified % kSelfCheckEvery == 0) [[unlikely]] {
        std::atomic_ref(process->header->stacks_verified)
            .fetch_add(kSelfCheckEvery, std::memory_order_relaxed);
        return unwind_stack(thread, site, id);
    }
    return id;
}

void write_module(void* context, const capture::Module& module)
{
    const std::string_view path(module.path);
    const std::string_view build_id(reinterpret_cast<const char*>(module.build_id),
                                    module.build_id_bytes);
    Body(*static_cast<Thread*>(context), Tag::module_loaded,
         kNumbers + text_bytes(path) + text_bytes(build_id))
        .ticks(now())
        .number(module.id)
        .number(module.bias)
        .number(module.first)
        .number(module.end)
        .text(build_id)
        .text(path);
}

void write_module_gone(void* context, std::uint32_t id)
{
    Body(*static_cast<Thread*>(context), Tag::module_gone, kNumbers).ticks(now()).number(id);
}

[[gnu::noinline]] bool change_place(Thread& thread, const format::Place& place) noexcept
{
    if (!reserve(thread, format::kMaxHotBytes))
        return false;
    publish(thread, format::encode_place(thread.at, place));
    thread.place = place;
    return true;
}

} // namespace

void count_lost(Lost reason) noexcept
{
    if (process->generation)
        std::atomic_ref(process->header->lost[static_cast<std::size_t>(reason)])
            .fetch_add(1, std::memory_order_relaxed);
}

void note_modules(Thread& thread) noexcept
{
    const std::uint64_t before = Lifecycle::modules().unload_epoch();
    Lifecycle::modules().scan({&thread, &write_module, &write_module_gone});
    if (Lifecycle::modules().unload_epoch() != before)
        capture::distrust_libunwind();
}

void code_unloaded() noexcept
{
    capture::distrust_libunwind();
    Lifecycle::modules().note_unload();
}

void record_alloc(Thread& thread, const format::Alloc& event, const format::Place& place,
                  const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    format::Alloc alloc = event;
    alloc.stack = stack_of(thread, site);
    // Both at once, so that a new chunk cannot come between a place and its event.
    if (static_cast<std::size_t>(thread.end - thread.at) < 2 * format::kMaxHotBytes &&
        !reserve(thread, 2 * format::kMaxHotBytes))
        return;
    if (thread.place != place && !change_place(thread, place))
        return;
    publish(thread, format::encode_alloc(thread.at, alloc, thread.deltas));
}

void record_free(Thread& thread, const format::Free& event) noexcept
{
    if (reserve(thread, format::kMaxHotBytes))
        publish(thread, format::encode_free(thread.at, event, thread.deltas));
}

void record_failure(Thread& thread, std::uint64_t api, int result, std::uint64_t address,
                    std::uint64_t bytes, const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::failed, kNumbers)
        .number(api)
        .ticks(now())
        .number(static_cast<std::uint64_t>(result))
        .number(address)
        .number(bytes)
        .number(stack);
}

void record_map(Thread& thread, std::uint64_t api, std::uint64_t address, std::uint64_t bytes,
                std::uint64_t handle, const CallSite& site) noexcept
{
    if (!has_chunk(thread))
        return;
    const std::uint64_t ticks = now();
    const std::uint32_t stack = stack_of(thread, site);
    Body(thread, Tag::map, kNumbers)
        .number(api)
        .ticks(ticks)
        .number(address)
        .number(bytes)
        .number(handle)
        .number(stack);
}

void record_unmap(Thread& thread, std::uint64_t api, std::uint64_t ticks, std::uint64_t address,
                  std::uint64_t bytes) noexcept
{
    Body(thread, Tag::unmap, kNumbers).number(api).ticks(ticks).number(address).number(bytes);
}

void record_retain(Thread& thread, std::uint64_t api, std::uint64_t handle) noexcept
{
    Body(thread, Tag::retain, kNumbers).number(api).ticks(now()).number(handle);
}

void record_context(Thread& thread, std::uint64_t id, std::uint64_t handle, int device,
                    bool primary) noexcept
{
    Body(thread, Tag::context, kNumbers)
        .number(id)
        .number(handle)
        .signed_number(device)
        .number(primary);
}

void record_context_gone(Thread& thread, std::uint64_t api, std::uint64_t ticks,
                         std::uint64_t id) noexcept
{
    Body(thread, Tag::context_gone, kNumbers).number(api).ticks(ticks).number(id);
}

void record_device(Thread& thread, int ordinal, std::uint64_t total_bytes,
                   std::string_view name) noexcept
{
    Body(thread, Tag::device, kNumbers + text_bytes(name))
        .number(static_cast<std::uint64_t>(ordinal))
        .number(total_bytes)
        .text(name);
}

void record_info(Thread& thread, std::string_view key, std::string_view value) noexcept
{
    Body(thread, Tag::info, text_bytes(key) + text_bytes(value)).text(key).text(value);
}

void record_api(Thread& thread, std::uint64_t id, const Api& api) noexcept
{
    Body(thread, Tag::api, kNumbers + text_bytes(api.name))
        .number(id)
        .number(static_cast<std::uint64_t>(api.effect))
        .number(static_cast<std::uint64_t>(api.memory))
        .text(api.name);
}

void record_thread(Thread& thread, std::uint32_t tid, std::string_view name) noexcept
{
    Body(thread, Tag::thread, kNumbers + text_bytes(name)).number(tid).text(name);
}

void record_range(Thread& thread, std::string_view name) noexcept
{
    Body(thread, Tag::range_push, kNumbers + text_bytes(name)).ticks(now()).text(name);
}

// A range or a mark of a thread that is inside a hook (a signal handler's) is not worth a torn
// record.
void push_range(std::string_view name) noexcept
{
    Thread& thread = this_thread;
    if (thread.inside != Inside::program)
        return;
    if (!is_ready(thread))
        return thread.pending.push(name);
    thread.inside = Inside::recorder;
    record_range(thread, name);
    thread.inside = Inside::program;
}

void pop_range() noexcept
{
    Thread& thread = this_thread;
    if (thread.inside != Inside::program)
        return;
    if (!is_ready(thread))
        return thread.pending.pop();
    thread.inside = Inside::recorder;
    Body(thread, Tag::range_pop, kNumbers).ticks(now());
    thread.inside = Inside::program;
}

void mark(std::string_view name) noexcept
{
    Thread& thread = this_thread;
    if (thread.inside != Inside::program || !process->generation)
        return;
    thread.inside = Inside::recorder;
    if (is_ready(thread) || Lifecycle::join(thread))
        Body(thread, Tag::mark, kNumbers + text_bytes(name)).ticks(now()).text(name);
    thread.inside = Inside::program;
}

void PendingRanges::push(std::string_view name) noexcept
{
    name = name.substr(0, 255);
    if (unnamed_ || used_ + name.size() + 2 > sizeof bytes_) {
        ++unnamed_;
        return;
    }
    bytes_[used_] = static_cast<char>(name.size());
    std::memcpy(bytes_ + used_ + 1, name.data(), name.size());
    bytes_[used_ + 1 + name.size()] = static_cast<char>(name.size());
    used_ += static_cast<std::uint32_t>(name.size() + 2);
}

void PendingRanges::pop() noexcept
{
    if (unnamed_)
        --unnamed_;
    else if (used_)
        used_ -= static_cast<std::uint8_t>(bytes_[used_ - 1]) + 2u;
}

} // namespace vramscope::log
