// tools/simgpu/driver/memory/allocation.cpp — the registry, and how each kind of memory goes back.
#include "tools/simgpu/driver/memory/allocation.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/memory/physical.hpp"
#include "tools/simgpu/driver/memory/pool.hpp"
#include "tools/simgpu/driver/module/launch.hpp"

namespace simgpu {
namespace {

std::uint64_t last_allocation_id = 0;

std::size_t page_bytes(std::size_t bytes)
{
    return round_up(bytes, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

void unmap_pages(const Allocation& allocation)
{
    // An import starts at the same offset in its page as the exported range.
    const std::uintptr_t page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t start = allocation.start / page * page;
    munmap(reinterpret_cast<void*>(start), page_bytes(allocation.start + allocation.bytes - start));
}

} // namespace

Allocations& allocations_locked()
{
    static auto* all = new Allocations;
    return *all;
}

Allocation& add_allocation_locked(Allocation allocation)
{
    allocation.id = ++last_allocation_id;
    return allocations_locked().emplace(allocation.start, allocation).first->second;
}

void renew_allocation_locked(Allocation& allocation)
{
    allocation.id = ++last_allocation_id;
    allocation.free_queued = false;
}

Allocation* find_allocation_locked(std::uintptr_t address)
{
    auto& all = allocations_locked();
    auto after = all.upper_bound(address);
    if (after == all.begin())
        return nullptr;
    Allocation& candidate = std::prev(after)->second;
    return address - candidate.start < candidate.bytes ? &candidate : nullptr;
}

Allocation* allocation_at_locked(std::uintptr_t start)
{
    const auto found = allocations_locked().find(start);
    return found == allocations_locked().end() ? nullptr : &found->second;
}

void drop_allocation_locked(Allocation& allocation)
{
    const bool dirty = allocation.dirty || host_kernels_exist();
    switch (allocation.kind) {
    case Kind::device:
    case Kind::global:
    case Kind::array:
        allocation.device->give(allocation.start, allocation.bytes, dirty);
        break;
    case Kind::managed:
    case Kind::host:
    case Kind::imported:
    case Kind::pool_import:
    case Kind::external:
    case Kind::external_array:
        unmap_pages(allocation);
        break;
    case Kind::pooled:
        give_to_pool_locked(allocation);
        break;
    case Kind::graph:
        release_graph_memory_locked(allocation);
        break;
    case Kind::registered: // the program's own pages
    case Kind::mapped:     // cuMemUnmap takes care of it
        break;
    }
    allocations_locked().erase(allocation.start);
}

void free_memory_of(Context& context)
{
    const std::lock_guard lock(memory_mutex());
    std::vector<Allocation*> owned;
    for (auto& [start, allocation] : allocations_locked())
        if (allocation.context == &context)
            owned.push_back(&allocation);
    for (Allocation* allocation : owned)
        drop_allocation_locked(*allocation);
}

bool pages_exist(std::uintptr_t start, std::uintptr_t end)
{
    constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 47; // end of a process's addresses
    constexpr std::size_t kPages = 4096;                     // how many pages one question covers
    if (end > kEnd)
        return false;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char resident[kPages];
    for (std::uintptr_t at = start / page * page; at < end;) {
        const std::size_t bytes = std::min<std::size_t>(page_bytes(end - at), kPages * page);
        if (mincore(reinterpret_cast<void*>(at), bytes, resident) != 0)
            return false;
        at += bytes;
    }
    return true;
}

bool usable(std::uintptr_t start, std::size_t bytes, bool writes)
{
    const std::lock_guard lock(memory_mutex());
    const std::uintptr_t end = start + bytes;
    if (end < start)
        return false;
    if (is_leaving_locked(start, end))
        return true;
    if (!find_allocation_locked(start))
        return end > start && !address_is_reserved_locked(start) &&
               !address_is_reserved_locked(end - 1) && pages_exist(start, end);
    // Mapped memory may continue in the next mapping.
    for (std::uintptr_t address = start; address < end;) {
        Allocation* const allocation = find_allocation_locked(address);
        if (!allocation || (address != start && allocation->kind != Kind::mapped))
            return false;
        if (allocation->access == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
            (writes && allocation->access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return false;
        allocation->dirty |= writes;
        address = allocation->start + allocation->bytes;
    }
    return true;
}

bool known_to_driver(std::uintptr_t address)
{
    const std::lock_guard lock(memory_mutex());
    return find_allocation_locked(address) != nullptr;
}

bool on_device(std::uintptr_t address)
{
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(address);
    return allocation && allocation->kind != Kind::host && allocation->kind != Kind::registered &&
           allocation->kind != Kind::managed &&
           (allocation->kind != Kind::pooled || allocation->pool->device);
}

} // namespace simgpu
