// interpose/hooks/driver.hpp — the one libcuda.so.1 of the process, and what we ask of it.
//
// It is found only when it is loaded already, and is then kept loaded: the addresses we hand on
// must stay good. We never initialise CUDA, and call nothing here once the process began to exit or
// from inside a nested hook.
#pragma once

#include "interpose/hooks/hook.hpp"
#include "tracker/capture/loaded_objects.hpp"

namespace vramscope::hooks {

class Driver {
public:
    // The driver, or null while none is loaded. The first call asks the loader, so the caller
    // holds no lock.
    static const Driver* find() noexcept;

    // The driver's own address of a hooked entry point; null: the driver does not export it.
    void* own_address(Hook hook) const noexcept { return own_[static_cast<std::size_t>(hook)]; }
    // The row whose function has this address; null: there is none.
    const HookInfo* hook_at(const void* address) const noexcept;
    bool exports(const char* name) const noexcept;
    bool contains(const void* address) const noexcept
    {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= range_.first && at < range_.end;
    }
    const char* path() const noexcept { return path_; }
    bool simulated() const noexcept { return simulated_; }

    // Entry points that we call ourselves, under no lock; each may be null.
    decltype(&::cuDriverGetVersion) driver_version;
    decltype(&::cuCtxGetCurrent) context;
    decltype(&::cuCtxGetDevice) context_device;
    decltype(&::cuDevicePrimaryCtxGetState) primary_state;
    decltype(&::cuDeviceGetName) device_name;
    decltype(&::cuDeviceTotalMem_v2) device_bytes;
    decltype(&::cuDeviceGetUuid) device_uuid;
    decltype(&::cuStreamGetCtx) stream_context;
    decltype(&::cuStreamIsCapturing) is_capturing;
    decltype(&::cuMemGetAddressRange_v2) address_range;
    decltype(&::cuDeviceGetMemPool) device_pool;
    decltype(&::cuDeviceGetDefaultMemPool) default_pool;
    decltype(&::cuMemPoolGetAttribute) pool_attribute;
    decltype(&::cuGraphGetNodes) nodes_of_graph;
    decltype(&::cuGraphNodeGetType) type_of_node;
    decltype(&::cuGraphChildGraphNodeGetGraph) graph_of_node;
    decltype(&::cuGraphMemAllocNodeGetParams) allocation_of_node;
    decltype(&::cuGraphMemFreeNodeGetParams) free_of_node;
    // What the pool needs besides questions (route.hpp says when).
    decltype(&::cuMemGetInfo_v2) memory_info;
    decltype(&::cuCtxSynchronize) synchronise;
    CUresult(CUDAAPI* synchronise_context)(CUcontext); // since CUDA 13.0
    decltype(&::cuCtxPushCurrent_v2) push_context;
    decltype(&::cuCtxPopCurrent_v2) pop_context;
    decltype(&::cuMemsetD8_v2) fill_bytes;
    decltype(&::cuMemcpyDtoH_v2) copy_to_host;

private:
    static const Driver* search() noexcept;
    void fill(void* library) noexcept;

    void* library_;
    void* own_[kHooks];
    capture::LoadedRange range_;
    bool simulated_;
    char path_[512];
};

extern constinit Driver the_driver;
extern constinit std::atomic<bool> driver_found;

inline const Driver* Driver::find() noexcept
{
    return driver_found.load(std::memory_order_acquire) ? &the_driver : search();
}

// Once exit handlers run, the driver may be half gone: we ask it nothing more.
inline bool exiting() noexcept
{
    const format::FileHeader* const header = log::process->header;
    return header && header->exit_began_ticks;
}

} // namespace vramscope::hooks
