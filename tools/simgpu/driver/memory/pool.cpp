// tools/simgpu/driver/memory/pool.cpp — segments, pieces, and stream order.
#include "tools/simgpu/driver/memory/pool.hpp"

#include <algorithm>
#include <sys/mman.h>

namespace simgpu {
namespace {

constexpr std::size_t kSegmentBytes = std::size_t{32} << 20;
constexpr std::size_t kMostPoolBytes = std::size_t{1} << 46; // rounding up does not overflow

std::atomic<bool> pools_used{false};

std::map<std::uintptr_t, std::size_t>::iterator segment_of(Pool& pool, std::uintptr_t address)
{
    return std::prev(pool.segments.upper_bound(address));
}

void free_now(Pool& pool, std::uintptr_t start, std::size_t bytes)
{
    const auto segment = segment_of(pool, start);
    pool.free.give(start, bytes, segment->first, segment->first + segment->second);
}

void collect_pending(Pool& pool)
{
    std::erase_if(pool.pending, [&pool](const Pool::Pending& piece) {
        if (!piece.freed.reached())
            return false;
        free_now(pool, piece.start, piece.bytes);
        return true;
    });
}

// The stream's own frees come before anything that it will do next.
std::uintptr_t take_pending(Pool& pool, std::size_t bytes, const Stream& stream)
{
    for (auto piece = pool.pending.begin(); piece != pool.pending.end(); ++piece) {
        if (piece->freed.stream != &stream || piece->bytes < bytes)
            continue;
        const std::uintptr_t start = piece->start;
        piece->start += bytes;
        piece->bytes -= bytes;
        if (piece->bytes == 0)
            pool.pending.erase(piece);
        return start;
    }
    return 0;
}

std::uintptr_t take_pages(const Pool& pool, std::size_t bytes)
{
    if (bytes > pool.most_bytes || pool.reserved > pool.most_bytes - bytes)
        return 0;
    if (pool.device)
        return pool.device->take(bytes);
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(pages);
}

void give_pages(const Pool& pool, std::uintptr_t start, std::size_t bytes)
{
    if (pool.device)
        pool.device->give(start, bytes, true);
    else
        munmap(reinterpret_cast<void*>(start), bytes);
}

std::uintptr_t take_segment(Pool& pool, std::size_t bytes)
{
    std::size_t size = round_up(std::max(bytes, kSegmentBytes), kBlockBytes);
    std::uintptr_t start = take_pages(pool, size);
    if (!start) {
        size = round_up(bytes, kBlockBytes);
        start = take_pages(pool, size);
    }
    if (!start)
        return 0;
    pool.segments.emplace(start, size);
    pool.reserved += size;
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
    if (size > bytes)
        pool.free.give(start + bytes, size - bytes, start, start + size);
    return start;
}

std::size_t piece_bytes(std::size_t bytes)
{
    return round_up(bytes, kSmallStep);
}

} // namespace

Pool* living_pool(CUmemoryPool handle)
{
    Pool* const pool = slots<Pool>().find(handle);
    return pool && !pool->destroyed ? pool : nullptr;
}

bool is_host_memory(const Pool& pool)
{
    return !pool.device && pool.place.type == CU_MEM_ALLOCATION_TYPE_PINNED;
}

bool is_managed_memory(const Pool& pool)
{
    return !pool.device && !is_host_memory(pool);
}

Pool* open_pool(const PoolPlace& place)
{
    const bool on_device =
        place.type == CU_MEM_ALLOCATION_TYPE_PINNED && place.where == CU_MEM_LOCATION_TYPE_DEVICE;
    Pool* const pool = slots<Pool>().make();
    pool->place = place;
    pool->device = on_device ? device_at(place.id) : nullptr;
    pool->most_bytes = UINT64_MAX;
    pool->is_default = false;
    pool->exportable = false;
    pool->destroyed = false;
    pool->release_threshold = 0;
    pool->reuse_options.clear();
    pool->access.clear();
    pool->used = pool->reserved = pool->used_high = pool->reserved_high = 0;
    pool->import_file = -1;
    return pool;
}

std::uintptr_t take_from_pool_locked(Pool& pool, std::size_t bytes, Stream& stream)
{
    if (bytes > kMostPoolBytes)
        return 0;
    pools_used.store(true);
    const std::size_t rounded = piece_bytes(bytes);
    collect_pending(pool);
    std::uintptr_t start = take_pending(pool, rounded, stream);
    if (!start)
        start = pool.free.take(rounded).value_or(0);
    if (!start)
        start = take_segment(pool, rounded);
    if (start) {
        pool.used += rounded;
        pool.used_high = std::max(pool.used_high, pool.used);
    }
    return start;
}

void close_pool_if_unused_locked(Pool& pool)
{
    trim_pool_locked(pool, 0);
    if (pool.segments.empty())
        slots<Pool>().retire(&pool);
}

void give_to_pool_locked(const Allocation& allocation, Mark freed)
{
    Pool& pool = *allocation.pool;
    const std::size_t rounded = piece_bytes(allocation.bytes);
    pool.used -= rounded;
    if (freed.reached())
        free_now(pool, allocation.start, rounded);
    else {
        pool.pending.push_back({allocation.start, rounded, freed});
        std::erase_if(pool.leaving,
                      [](const Pool::Pending& piece) { return piece.freed.reached(); });
        pool.leaving.push_back({allocation.start, allocation.bytes, freed});
    }
    if (pool.destroyed)
        close_pool_if_unused_locked(pool);
}

bool is_leaving_locked(std::uintptr_t start, std::uintptr_t end)
{
    for (const Pool* pool : slots<Pool>().all())
        for (const Pool::Pending& piece : pool->leaving)
            if (piece.start <= start && end <= piece.start + piece.bytes && !piece.freed.reached())
                return true;
    return false;
}

void trim_pool_locked(Pool& pool, std::uint64_t keep)
{
    collect_pending(pool);
    for (auto segment = pool.segments.begin(); segment != pool.segments.end();) {
        const auto [start, bytes] = *segment;
        if (pool.reserved <= keep)
            return;
        const auto whole = pool.free.range_at(start);
        if (!whole || whole->bytes != bytes) {
            ++segment;
            continue;
        }
        pool.free.remove(*whole);
        pool.reserved -= bytes;
        give_pages(pool, start, bytes);
        segment = pool.segments.erase(segment);
    }
}

void trim_pools_after_sync()
{
    if (!pools_used.load())
        return;
    const std::lock_guard lock(memory_mutex());
    for (Pool* pool : slots<Pool>().all()) {
        if (pool->destroyed)
            close_pool_if_unused_locked(*pool);
        else if (pool->reserved > pool->release_threshold)
            trim_pool_locked(*pool, pool->release_threshold);
    }
}

} // namespace simgpu
