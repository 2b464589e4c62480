// tools/simgpu/driver/share.cpp — map a range of another process's device file.
#include "tools/simgpu/driver/share.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simgpu {

Device* device_of_file(int file)
{
    char link[64];
    char target[128] = "";
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, target, sizeof target - 1);
    constexpr char kPrefix[] = "/memfd:vramscope-simgpu:device=";
    if (length <= 0 || std::strncmp(target, kPrefix, sizeof kPrefix - 1) != 0)
        return nullptr;
    return device_at(std::atoi(target + sizeof kPrefix - 1));
}

CUresult map_foreign(int file, std::uint64_t offset, std::uint64_t bytes, Device& device,
                     Context* context, CUdeviceptr& address)
{
    struct stat status;
    if (fstat(file, &status) != 0 || bytes == 0 ||
        offset > static_cast<std::uint64_t>(status.st_size) ||
        bytes > static_cast<std::uint64_t>(status.st_size) - offset)
        return CUDA_ERROR_INVALID_VALUE;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t before = offset % page; // small allocations do not start at a page
    void* const mapped =
        mmap(nullptr, bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
             static_cast<off_t>(offset - before));
    if (mapped == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(memory_mutex());
    Allocation allocation;
    allocation.start = reinterpret_cast<std::uintptr_t>(mapped) + before;
    allocation.bytes = bytes;
    allocation.kind = Kind::imported;
    allocation.device = &device;
    allocation.context = context;
    add_allocation_locked(allocation);
    address = allocation.start;
    return CUDA_SUCCESS;
}

} // namespace simgpu
