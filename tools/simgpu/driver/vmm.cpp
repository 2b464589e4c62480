// tools/simgpu/driver/vmm.cpp — cuMemCreate, cuMemAddressReserve, cuMemMap and the rest of virtual
// memory management.
//
// Physical memory is a piece of a device's file, or a file of its own when it can be exported: then
// the importer knows it from the file alone. It lives while a handle or a mapping refers to it, and
// it outlives contexts.
#include "tools/simgpu/driver/vmm.hpp"

#include "tools/simgpu/driver/allocation.hpp"
#include "tools/simgpu/driver/share.hpp"

#include "api.hpp"

#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simgpu {
namespace {

struct Physical {
    std::atomic<bool> alive{false};
    CUmemAllocationProp properties{};
    Device* device = nullptr;
    std::size_t bytes = 0;
    std::uintptr_t place = 0; // in the device's window; 0 if it has its own file
    int file = -1;
    bool charged = false; // imported memory is the exporter's
    unsigned handles = 0;
    unsigned mappings = 0;
};

// Under memory_mutex().
struct Space {
    std::map<std::uintptr_t, std::size_t> reservations;
    std::map<std::uintptr_t, Physical*> mappings;
};

Slots<Physical>& physicals()
{
    static auto* all = new Slots<Physical>;
    return *all;
}

Space& space()
{
    static auto* all = new Space;
    return *all;
}

Physical* physical_of(CUmemGenericAllocationHandle handle)
{
    return physicals().find(reinterpret_cast<void*>(handle));
}

CUmemGenericAllocationHandle handle_of(Physical* physical)
{
    return reinterpret_cast<CUmemGenericAllocationHandle>(physical);
}

void* pages(std::uintptr_t address)
{
    return reinterpret_cast<void*>(address);
}

void release_if_unused(Physical& physical)
{
    if (physical.handles > 0 || physical.mappings > 0)
        return;
    if (physical.file >= 0)
        close(physical.file);
    if (physical.charged && physical.place)
        physical.device->give(physical.place, physical.bytes, true);
    else if (physical.charged)
        physical.device->discharge(physical.bytes);
    physicals().retire(&physical);
}

bool block_multiple(std::size_t value)
{
    return value % kBlockBytes == 0;
}

CUresult check_properties(const CUmemAllocationProp* properties)
{
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!device_at(properties->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    const auto types = properties->requestedHandleTypes;
    return types == CU_MEM_HANDLE_TYPE_NONE || types == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_SUPPORTED;
}

// Physical memory that another process can open: its own file, named like the device's.
bool make_file(Physical& physical)
{
    char name[64];
    std::snprintf(name, sizeof name, "vramscope-simgpu:device=%d", physical.device->ordinal());
    physical.file = memfd_create(name, MFD_CLOEXEC);
    return physical.file >= 0 && ftruncate(physical.file, static_cast<off_t>(physical.bytes)) == 0;
}

Physical* make_physical(const CUmemAllocationProp& properties, Device& device, std::size_t bytes)
{
    Physical* made = physicals().make();
    made->properties = properties;
    made->device = &device;
    made->bytes = bytes;
    made->place = 0;
    made->file = -1;
    made->charged = false;
    made->handles = 1;
    made->mappings = 0;
    return made;
}

// The reservation that holds the whole range.
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

bool address_is_reserved_locked(std::uintptr_t address)
{
    for (const Device* device : devices())
        if (address - device->window() < device->window_bytes())
            return true;
    return inside_reservation(address, 1);
}

namespace api {

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags)
{
    if (!handle || flags != 0 || size == 0 || !block_multiple(size))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_properties(prop))
        return error;
    Device& device = *device_at(prop->location.id);
    const std::lock_guard lock(memory_mutex());
    Physical* made = make_physical(*prop, device, size);
    made->charged = true;
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
        made->charged = device.charge(size);
        if (made->charged && make_file(*made)) {
            *handle = handle_of(made);
            return CUDA_SUCCESS;
        }
    } else {
        made->place = device.take(std::max(size, kBlockBytes));
        if (made->place) {
            *handle = handle_of(made);
            return CUDA_SUCCESS;
        }
        made->charged = false;
    }
    made->handles = 0;
    release_if_unused(*made);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    const std::lock_guard lock(memory_mutex());
    Physical* physical = physical_of(handle);
    if (!physical || physical->handles == 0)
        return CUDA_ERROR_INVALID_VALUE;
    --physical->handles;
    release_if_unused(*physical);
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(reinterpret_cast<std::uintptr_t>(addr));
    if (!allocation || allocation->kind != Kind::mapped)
        return CUDA_ERROR_INVALID_VALUE;
    Physical* physical = space().mappings.at(allocation->start);
    ++physical->handles;
    *handle = handle_of(physical);
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr,
                             unsigned long long flags)
{
    if (!ptr || size == 0 || !block_multiple(size) || flags != 0 ||
        (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::size_t step = std::max(alignment, kBlockBytes);
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
    if (!physical || physical->handles == 0 || flags != 0 || offset != 0 || size == 0 ||
        !block_multiple(size) || !block_multiple(ptr) || size > physical->bytes ||
        !inside_reservation(ptr, size) || mapped_anywhere(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    const int file = physical->file >= 0 ? physical->file : physical->device->file();
    const std::uintptr_t place =
        physical->file >= 0 ? 0 : physical->place - physical->device->window();
    // No access until cuMemSetAccess.
    if (mmap(pages(ptr), size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
             static_cast<off_t>(place)) == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    Allocation allocation;
    allocation.start = ptr;
    allocation.bytes = size;
    allocation.kind = Kind::mapped;
    allocation.device = physical->device;
    allocation.access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    add_allocation_locked(allocation);
    space().mappings.emplace(ptr, physical);
    ++physical->mappings;
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    for (Context* context : contexts().all()) // work may still use it
        finish_all(*context);
    const std::lock_guard lock(memory_mutex());
    auto& all = space().mappings;
    // Whole mappings only, side by side from ptr to its end.
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
        mmap(pages(mapping->first), allocation->bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        drop_allocation_locked(*allocation);
        --mapping->second->mappings;
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
        // One process memory for all devices: the most that any of them may do.
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

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option)
{
    if (!granularity || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_properties(prop))
        return error;
    *granularity = kBlockBytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle)
{
    const std::lock_guard lock(memory_mutex());
    const Physical* physical = physical_of(handle);
    if (!prop || !physical)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = physical->properties;
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags)
{
    const std::lock_guard lock(memory_mutex());
    const Physical* physical = physical_of(handle);
    if (!shareableHandle || !physical || physical->file < 0 || flags != 0 ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    const int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *static_cast<int*>(shareableHandle) = file;
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle));
    struct stat status;
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    Device* device = device_of_file(given);
    if (!device || fstat(given, &status) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const int file = fcntl(given, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal()};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    const std::lock_guard lock(memory_mutex());
    Physical* made = make_physical(properties, *device, static_cast<std::size_t>(status.st_size));
    made->file = file;
    *handle = handle_of(made);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
