// interpose/hooks/driver.cpp — finding the driver that the program loaded.
#include "interpose/hooks/driver.hpp"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/capture/signals.hpp"

namespace vramscope::hooks {

constinit Driver the_driver{};
constinit std::atomic<bool> driver_found{false};

namespace {

constinit capture::Lock filling;

struct RangeSearch {
    ElfW(Addr) bias;
    capture::LoadedRange range;
};

int find_range(dl_phdr_info* info, std::size_t, void* data)
{
    auto& search = *static_cast<RangeSearch*>(data);
    if (info->dlpi_addr != search.bias)
        return 0;
    search.range = capture::loaded_range(*info);
    return 1;
}

} // namespace

const Driver* Driver::search() noexcept
{
    const capture::SignalsHeld held; // the loader's walk calls us back under its lock
    void* library = capture::loader_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (!library)
        return nullptr;
    Driver driver{};
    driver.fill(library);
    const std::lock_guard guard(filling);
    if (!driver_found.load(std::memory_order_relaxed)) {
        the_driver = driver;
        driver_found.store(true, std::memory_order_release);
    }
    return &the_driver;
}

void Driver::fill(void* library) noexcept
{
    library_ = library;
    for (std::size_t i = 0; i < kHooks; ++i)
        own_[i] = capture::loader_dlsym(library, kHookTable[i].symbol());
    const auto take = [&](auto& field, const char* name) {
        field = reinterpret_cast<std::remove_reference_t<decltype(field)>>(
            capture::loader_dlsym(library, name));
    };
    take(driver_version, "cuDriverGetVersion");
    take(context, "cuCtxGetCurrent");
    take(context_device, "cuCtxGetDevice");
    take(primary_state, "cuDevicePrimaryCtxGetState");
    take(device_name, "cuDeviceGetName");
    take(device_bytes, "cuDeviceTotalMem_v2");
    take(device_uuid, "cuDeviceGetUuid"); // of the whole device; _v2 may name a part of it (MIG)
    take(stream_context, "cuStreamGetCtx");
    take(is_capturing, "cuStreamIsCapturing");
    take(address_range, "cuMemGetAddressRange_v2");
    take(device_pool, "cuDeviceGetMemPool");
    take(default_pool, "cuDeviceGetDefaultMemPool");
    take(pool_attribute, "cuMemPoolGetAttribute");
    take(nodes_of_graph, "cuGraphGetNodes");
    take(type_of_node, "cuGraphNodeGetType");
    take(graph_of_node, "cuGraphChildGraphNodeGetGraph");
    take(allocation_of_node, "cuGraphMemAllocNodeGetParams");
    take(free_of_node, "cuGraphMemFreeNodeGetParams");
    take(memory_info, "cuMemGetInfo_v2");
    take(synchronise, "cuCtxSynchronize");
    take(synchronise_context, "cuCtxSynchronize_v2");
    take(push_context, "cuCtxPushCurrent_v2");
    take(pop_context, "cuCtxPopCurrent_v2");
    take(fill_bytes, "cuMemsetD8_v2");
    take(copy_to_host, "cuMemcpyDtoH_v2");
    simulated_ = capture::loader_dlsym(library, "simgpu_version") != nullptr;

    link_map* map = nullptr;
    if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return;
    std::strncpy(path_, map->l_name, sizeof path_ - 1);
    RangeSearch search{map->l_addr, {}};
    if (capture::each_object(&find_range, &search))
        range_ = search.range;
}

bool Driver::exports(const char* name) const noexcept
{
    return capture::loader_dlsym(library_, name) != nullptr;
}

const HookInfo* Driver::hook_at(const void* address) const noexcept
{
    if (!contains(address))
        return nullptr;
    for (std::size_t i = 0; i < kHooks; ++i)
        if (own_[i] == address)
            return &kHookTable[i];
    return nullptr;
}

} // namespace vramscope::hooks
