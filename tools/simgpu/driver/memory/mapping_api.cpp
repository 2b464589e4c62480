// tools/simgpu/driver/memory/mapping_api.cpp — address reservations and what is mapped into them.
#include <algorithm>
#include <sys/mman.h>

#include "api.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/memory/physical.hpp"

namespace simgpu {
namespace {

// Under memory_mutex().
struct Space {
    std::map<std::uintptr_t, std::size_t> reservations;
    std::map<std::uintptr_t, Physical*> mappings;
};

Space& space()
{
    static auto* all = new Space;
    return *all;
}

constexpr std::size_t kAddressSpace = std::size_t{1} << 46; // the sum of two does not overflow

void* pages(std::uintptr_t address)
{
    return reinterpret_cast<void*>(address);
}

// Whether one reservation holds the whole range.
bool inside_reservation(std::uintptr_t start, std::size_t bytes)
{
    auto after = space().reservations.upper_bound(start);
    if (after == space().reservations.begin())
        return false;
    const auto& [base, size] = *std::prev(after);
    return start - base <= size && bytes <= size - (start - base);
}

bool mapped_anywhere(std::uintptr_t start, std::size_t bytes)
{
    const auto& all = space().mappings;
    const auto next = all.lower_bound(start);
    if (next != all.end() && next->first < start + bytes)
        return true;
    return next != all.begin() &&
           std::prev(next)->first + allocation_at_locked(std::prev(next)->first)->bytes > start;
}

} // namespace

Physical* physical_at_locked(std::uintptr_t address)
{
    const Allocation* allocation = find_allocation_locked(address);
    return allocation && allocation->kind == Kind::mapped ? space().mappings.at(allocation->start)
                                                          : nullptr;
}

bool address_is_reserved_locked(std::uintptr_t address)
{
    for (const Device* device : devices())
        if (address - device->window() < device->window_bytes())
            return true;
    return inside_reservation(address, 1);
}

namespace api {

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr,
                             unsigned long long flags)
{
    if (!ptr || size == 0 || !block_multiple(size) || flags != 0 ||
        (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::size_t step = std::max(alignment, kBlockBytes);
    if (size > kAddressSpace || step > kAddressSpace)
        return CUDA_ERROR_OUT_OF_MEMORY;
    void* const reserved =
        mmap(nullptr, size + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const auto raw = reinterpret_cast<std::uintptr_t>(reserved);
    const std::uintptr_t start = round_up(raw, step);
    if (start > raw)
        munmap(reserved, start - raw);
    munmap(pages(start + size), raw + step - start);
    const std::lock_guard lock(memory_mutex());
    space().reservations.emplace(start, size);
    *ptr = start;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    const std::lock_guard lock(memory_mutex());
    const auto found = space().reservations.find(ptr);
    if (found == space().reservations.end() || found->second != size || mapped_anywhere(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    munmap(pages(ptr), size);
    space().reservations.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    const std::lock_guard lock(memory_mutex());
    Physical* physical = physical_of(handle);
    if (!physical || flags != 0 || offset != 0 || size == 0 || !block_multiple(size) ||
        !block_multiple(ptr) || size > physical->bytes || !inside_reservation(ptr, size) ||
        mapped_anywhere(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    if (physical->multicast && !physical->multicast->complete()) // here a device would wait
        return CUDA_ERROR_ILLEGAL_STATE;
    const int file = physical->file >= 0 ? physical->file : physical->device->file();
    const std::uintptr_t place =
        physical->file >= 0 ? 0 : physical->place - physical->device->window();
    // There is no access until cuMemSetAccess is called.
    if (mmap(pages(ptr), size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
             static_cast<off_t>(place)) == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    add_allocation_locked({.start = ptr,
                           .bytes = size,
                           .kind = Kind::mapped,
                           .device = physical->device,
                           .access = CU_MEM_ACCESS_FLAGS_PROT_NONE});
    space().mappings.emplace(ptr, physical);
    ++physical->uses;
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    for (Context* context : slots<Context>().all()) // work may still use it
        finish_all(*context);
    const std::lock_guard lock(memory_mutex());
    auto& all = space().mappings;
    // Only whole mappings can be unmapped, which lie side by side from ptr to the end.
    std::uintptr_t end = ptr;
    auto last = all.find(ptr);
    while (last != all.end() && last->first == end && end < ptr + size) {
        end += allocation_at_locked(last->first)->bytes;
        ++last;
    }
    if (size == 0 || end != ptr + size)
        return CUDA_ERROR_INVALID_VALUE;
    for (auto mapping = all.find(ptr); mapping != last; mapping = all.erase(mapping)) {
        Allocation* allocation = allocation_at_locked(mapping->first);
        if (mmap(pages(mapping->first), allocation->bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        drop_allocation_locked(*allocation);
        --mapping->second->uses;
        release_if_unused(*mapping->second);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count)
{
    if (!desc || count == 0 || size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    for (std::uintptr_t address = ptr; address < ptr + size;) {
        const Allocation* mapping = allocation_at_locked(address);
        if (!mapping || mapping->kind != Kind::mapped)
            return CUDA_ERROR_INVALID_VALUE;
        address += mapping->bytes;
    }
    for (std::uintptr_t address = ptr; address < ptr + size;) {
        Allocation* const mapping = allocation_at_locked(address);
        // All devices share the pages of one process, so the access is the most that any of
        // them may have.
        for (size_t index = 0; index < count; ++index)
            mapping->access =
                index == 0 ? desc[index].flags : std::max(mapping->access, desc[index].flags);
        const bool read = mapping->access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        const bool write = mapping->access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        mprotect(pages(address), mapping->bytes,
                 write  ? PROT_READ | PROT_WRITE
                 : read ? PROT_READ
                        : PROT_NONE);
        address += mapping->bytes;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr)
{
    if (!flags || !location)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* mapping = find_allocation_locked(ptr);
    if (!mapping || mapping->kind != Kind::mapped)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = mapping->access;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
