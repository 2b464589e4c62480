// tools/simgpu/driver/graph/graph_memory.cpp — memory of allocation nodes.
//
// The address is fixed when the node is made. The bytes are taken from the device at the first
// launch and kept, even after a free, until cuDeviceGraphMemTrim is called or nothing names the
// address any more.
#include <algorithm>

#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {
namespace {

struct Memory {
    Device* device;
    std::size_t bytes;
    std::uint64_t owner;                // id of the graph
    std::set<std::uint64_t> freed_by{}; // ids of graphs with a free node for it
    unsigned holders = 1;
    bool backed = false;
    bool live = false;
};

struct Usage {
    std::uint64_t used = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved = 0;
    std::uint64_t reserved_high = 0;
};

std::map<CUdeviceptr, Memory>& memories()
{
    static auto* all = new std::map<CUdeviceptr, Memory>;
    return *all;
}

Usage& usage_of(Device* device)
{
    static auto* all = new std::map<Device*, Usage>;
    return (*all)[device];
}

std::size_t block_bytes(const Memory& memory)
{
    return round_up(memory.bytes, kBlockBytes);
}

bool back(Memory& memory)
{
    if (memory.backed)
        return true;
    if (!memory.device->charge(block_bytes(memory)))
        return false;
    memory.backed = true;
    Usage& usage = usage_of(memory.device);
    usage.reserved += block_bytes(memory);
    usage.reserved_high = std::max(usage.reserved_high, usage.reserved);
    return true;
}

void unback(Memory& memory)
{
    if (!memory.backed)
        return;
    memory.backed = false;
    memory.device->discharge(block_bytes(memory));
    usage_of(memory.device).reserved -= block_bytes(memory);
}

void forget_if_unused(CUdeviceptr address)
{
    const auto found = memories().find(address);
    Memory& memory = found->second;
    if (memory.holders > 0 || memory.live)
        return;
    unback(memory);
    memory.device->unreserve_blocks(address, memory.bytes, true);
    memories().erase(found);
}

CUresult allocate(CUdeviceptr address, Memory& memory)
{
    if (!back(memory))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory.live = true;
    Usage& usage = usage_of(memory.device);
    usage.used += block_bytes(memory);
    usage.used_high = std::max(usage.used_high, usage.used);
    add_allocation_locked(
        {.start = address, .bytes = memory.bytes, .kind = Kind::graph, .device = memory.device});
    return CUDA_SUCCESS;
}

} // namespace

CUresult plan_graph_memory(Device& device, std::size_t bytes, const Graph& owner,
                           CUdeviceptr& address)
{
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const std::uintptr_t start = bytes > device.total_bytes() ? 0 : device.reserve_blocks(bytes);
    if (!start)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memories().emplace(start, Memory{&device, bytes, owner.id});
    address = start;
    return CUDA_SUCCESS;
}

CUresult claim_graph_free(CUdeviceptr address, const Graph& graph)
{
    const std::lock_guard lock(memory_mutex());
    const auto found = memories().find(address);
    if (found == memories().end())
        return CUDA_ERROR_INVALID_VALUE;
    Memory& memory = found->second;
    const bool owner_frees = memory.freed_by.contains(memory.owner);
    const bool others_free = !memory.freed_by.empty() && !owner_frees;
    if (memory.freed_by.contains(graph.id) || owner_frees ||
        (graph.id == memory.owner && others_free))
        return CUDA_ERROR_INVALID_VALUE;
    memory.freed_by.insert(graph.id);
    ++memory.holders;
    return CUDA_SUCCESS;
}

void hold_graph_memory(CUdeviceptr address)
{
    const std::lock_guard lock(memory_mutex());
    ++memories().at(address).holders;
}

void let_go_of_graph_memory(CUdeviceptr address)
{
    const std::lock_guard lock(memory_mutex());
    --memories().at(address).holders;
    forget_if_unused(address);
}

CUresult activate_graph_memory(CUdeviceptr address, bool may_be_live, bool& fresh)
{
    const std::lock_guard lock(memory_mutex());
    Memory& memory = memories().at(address);
    fresh = !memory.live;
    if (!memory.live)
        return allocate(address, memory);
    Allocation& allocation = *allocation_at_locked(address);
    if (!may_be_live && !allocation.free_queued)
        return CUDA_ERROR_INVALID_VALUE;
    // It is freed and allocated anew, so a free that is still queued does not meet it.
    renew_allocation_locked(allocation);
    return CUDA_SUCCESS;
}

CUresult ensure_graph_memory(CUdeviceptr address)
{
    const std::lock_guard lock(memory_mutex());
    Memory& memory = memories().at(address);
    return memory.live ? CUDA_SUCCESS : allocate(address, memory);
}

void free_graph_memory(CUdeviceptr address)
{
    const std::lock_guard lock(memory_mutex());
    if (memories().at(address).live)
        drop_allocation_locked(*allocation_at_locked(address));
}

bool callers_may_free_graph_memory_locked(CUdeviceptr address)
{
    const Memory& memory = memories().at(address);
    return !memory.freed_by.contains(memory.owner);
}

bool is_planned_graph_range(CUdeviceptr start, std::size_t bytes)
{
    const std::lock_guard lock(memory_mutex());
    const auto after = memories().upper_bound(start);
    if (after == memories().begin())
        return false;
    const auto& [address, memory] = *std::prev(after);
    return start - address <= memory.bytes && bytes <= memory.bytes - (start - address);
}

void release_graph_memory_locked(const Allocation& allocation)
{
    Memory& memory = memories().at(allocation.start);
    memory.live = false;
    usage_of(memory.device).used -= block_bytes(memory);
    forget_if_unused(allocation.start);
}

namespace api {

CUresult cuDeviceGraphMemTrim(CUdevice dev)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(memory_mutex());
    for (auto& [address, memory] : memories())
        if (memory.device == device && !memory.live)
            unback(memory);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void* value)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    const Usage& usage = usage_of(device);
    auto& out = *static_cast<cuuint64_t*>(value);
    switch (attr) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        out = usage.used;
        return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        out = usage.used_high;
        return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        out = usage.reserved;
        return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        out = usage.reserved_high;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void* value)
{
    Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!value || *static_cast<cuuint64_t*>(value) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(memory_mutex());
    Usage& usage = usage_of(device);
    if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        usage.used_high = usage.used;
    else if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        usage.reserved_high = usage.reserved;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
