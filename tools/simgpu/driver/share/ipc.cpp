// tools/simgpu/driver/share/ipc.cpp — cuIpc*: device memory and events between processes, through
//
// A handle names the exporting process, its device file, which is opened through /proc/PID/fd, and
// the place of the allocation in it. As with a driver, a handle exports the whole allocation, even
// for an inner address, and is of no use in the process that made it.
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/share/share.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {
namespace {

constexpr std::uint64_t kMemoryMagic = 0x6d656d756d6973; // "simumem"

struct MemoryHandle {
    std::uint64_t magic;
    std::int32_t process;
    std::int32_t file;
    std::int32_t device;
    std::int32_t unused;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t id; // so a new allocation at the same place has another handle
};
static_assert(sizeof(MemoryHandle) <= sizeof(CUipcMemHandle));

struct Import {
    MemoryHandle handle;
    Context* context; // each context opens it for itself
    std::uint64_t id; // the id of its allocation, which ends with its context
    unsigned users;
};

// The imports by their address. Under memory_mutex().
std::map<CUdeviceptr, Import>& imports()
{
    static auto* all = new std::map<CUdeviceptr, Import>;
    return *all;
}

// The allocation of an import; null when its context is gone.
Allocation* memory_of_locked(CUdeviceptr start, const Import& import)
{
    Allocation* const allocation = allocation_at_locked(start);
    return allocation && allocation->id == import.id ? allocation : nullptr;
}

bool open_again(const MemoryHandle& handle, const Context* context, CUdeviceptr& address)
{
    const std::lock_guard lock(memory_mutex());
    for (auto& [start, import] : imports()) {
        if (std::memcmp(&import.handle, &handle, sizeof handle) != 0 || import.context != context ||
            !memory_of_locked(start, import))
            continue;
        ++import.users;
        address = start;
        return true;
    }
    return false;
}

} // namespace

namespace api {

CUresult cuIpcGetMemHandle(Context&, CUipcMemHandle* pHandle, CUdeviceptr dptr)
{
    if (!pHandle)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Allocation* allocation = find_allocation_locked(dptr);
    if (!allocation || allocation->kind != Kind::device)
        return CUDA_ERROR_INVALID_VALUE;
    MemoryHandle handle{};
    handle.magic = kMemoryMagic;
    handle.process = getpid();
    handle.file = allocation->device->file();
    handle.device = allocation->device->ordinal();
    handle.offset = allocation->start - allocation->device->window();
    handle.bytes = allocation->bytes;
    handle.id = allocation->id;
    std::memset(pHandle, 0, sizeof *pHandle);
    std::memcpy(pHandle, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(Context& context, CUdeviceptr* pdptr, CUipcMemHandle handle,
                               unsigned int Flags)
{
    MemoryHandle wanted{};
    std::memcpy(&wanted, &handle, sizeof wanted);
    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || wanted.magic != kMemoryMagic)
        return CUDA_ERROR_INVALID_VALUE;
    Device* device = device_at(wanted.device);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (wanted.process == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (open_again(wanted, &context, *pdptr))
        return CUDA_SUCCESS;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", wanted.process, wanted.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || !device_of_file(file)) {
        if (file >= 0)
            close(file);
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUdeviceptr address = 0;
    const CUresult result =
        map_foreign(file, wanted.offset, wanted.bytes, Kind::imported, *device, &context, address);
    close(file); // the mapping stays
    if (result != CUDA_SUCCESS)
        return result;
    const std::lock_guard lock(memory_mutex());
    imports()[address] = {wanted, &context, allocation_at_locked(address)->id, 1};
    *pdptr = address;
    return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(Context& context, CUdeviceptr dptr)
{
    finish_all(context);
    const std::lock_guard lock(memory_mutex());
    const auto import = imports().find(dptr);
    Allocation* const allocation =
        import == imports().end() ? nullptr : memory_of_locked(dptr, import->second);
    if (!allocation)
        return CUDA_ERROR_INVALID_VALUE;
    if (--import->second.users > 0)
        return CUDA_SUCCESS;
    imports().erase(import);
    drop_allocation_locked(*allocation);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
