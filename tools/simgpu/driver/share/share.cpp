// tools/simgpu/driver/share/share.cpp — makes, recognises and maps the files that are shared.
#include "tools/simgpu/driver/share/share.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simgpu {

namespace {

constexpr char kDevice[] = "vramscope-simgpu:device=";
constexpr char kMemory[] = "vramscope-simgpu:memory=";
constexpr char kMulticast[] = "vramscope-simgpu:multicast=";
constexpr char kSharedEvent[] = "vramscope-simgpu:event=";

int make_file(const char* kind, int ordinal, std::size_t bytes)
{
    char name[64];
    std::snprintf(name, sizeof name, "%s%d", kind, ordinal);
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) == 0)
        return file;
    close(file);
    return -1;
}

// The number in the name of a file of that kind; -1 for any other.
int number_of(int file, const char* kind)
{
    char link[64];
    char target[128] = "";
    char prefix[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const int length = std::snprintf(prefix, sizeof prefix, "/memfd:%s", kind);
    if (readlink(link, target, sizeof target - 1) <= 0 ||
        std::strncmp(target, prefix, static_cast<std::size_t>(length)) != 0)
        return -1;
    return std::atoi(target + length);
}

} // namespace

int make_device_file(int ordinal, std::size_t bytes)
{
    return make_file(kDevice, ordinal, bytes);
}

int make_memory_file(const Device& device, std::size_t bytes)
{
    return make_file(kMemory, device.ordinal(), bytes);
}

Device* device_of_file(int file)
{
    return device_at(number_of(file, kDevice));
}

Device* device_of_memory_file(int file)
{
    return device_at(number_of(file, kMemory));
}

int make_multicast_file(unsigned team, std::size_t bytes)
{
    return make_file(kMulticast, static_cast<int>(team), bytes);
}

unsigned team_of_multicast_file(int file)
{
    return static_cast<unsigned>(std::max(0, number_of(file, kMulticast)));
}

int make_event_file(std::size_t bytes)
{
    return make_file(kSharedEvent, 0, bytes);
}

bool is_event_file(int file)
{
    return number_of(file, kSharedEvent) == 0;
}

CUresult duplicate_file(int file, int& copy)
{
    const int made = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (made < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    copy = made;
    return CUDA_SUCCESS;
}

CUresult map_foreign(int file, std::uint64_t offset, std::uint64_t bytes, Kind kind, Device& device,
                     Context* context, CUdeviceptr& address)
{
    struct stat status;
    if (fstat(file, &status) != 0 || bytes == 0 ||
        offset > static_cast<std::uint64_t>(status.st_size) ||
        bytes > static_cast<std::uint64_t>(status.st_size) - offset)
        return CUDA_ERROR_INVALID_VALUE;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t before = offset % page; // small allocations do not start a page
    void* const mapped =
        mmap(nullptr, bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
             static_cast<off_t>(offset - before));
    if (mapped == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(memory_mutex());
    address = add_allocation_locked({.start = reinterpret_cast<std::uintptr_t>(mapped) + before,
                                     .bytes = bytes,
                                     .kind = kind,
                                     .device = &device,
                                     .context = context})
                  .start;
    return CUDA_SUCCESS;
}

} // namespace simgpu
