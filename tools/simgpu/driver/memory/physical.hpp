// tools/simgpu/driver/memory/physical.hpp — physical memory of virtual memory management.
//
// It is a piece of a device's file, or a file of its own when it can be exported: then the importer
// knows it from the file alone. It lives while a handle, a mapping or a binding refers to it, and
// it outlives contexts. All of it under memory_mutex().
#pragma once

#include "tools/simgpu/driver/base/slots.hpp"
#include "tools/simgpu/driver/context/device.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>

namespace simgpu {

struct Physical;

// Memory of one device bound into a multicast object: kept, unless it is a pool's.
struct Binding {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    Device* device = nullptr;
    Physical* memory = nullptr;
};

struct Multicast {
    unsigned team = 0; // devices that must join
    bool shareable = false;
    std::set<Device*> devices;
    std::vector<Binding> bindings;
    // Devices of other processes join a shareable object unseen.
    bool complete() const { return devices.size() == team || (shareable && !devices.empty()); }
};

// Memory, or a multicast object: it has a handle and is mapped alike.
struct Physical {
    std::atomic<bool> alive{false};
    CUmemAllocationProp properties{};
    Device* device = nullptr; // null for a multicast object
    std::size_t bytes = 0;
    std::uintptr_t place = 0; // in the device's window; 0 if it has its own file
    int file = -1;
    bool charged = false; // imported memory is the exporter's
    unsigned handles = 0;
    unsigned uses = 0; // mappings and bindings
    std::unique_ptr<Multicast> multicast;
};

Slots<Physical>& physicals();
// Null for a handle that was released as often as it was given out.
Physical* physical_of(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle handle_of(Physical* physical);
// With one handle, without memory.
Physical* make_physical(const CUmemAllocationProp& properties, Device* device, std::size_t bytes);
CUmemGenericAllocationHandle make_multicast(int file, unsigned team, bool shareable,
                                            std::size_t bytes);
void unbind_all(Multicast& multicast);
void release_if_unused(Physical& physical);

// The physical memory mapped at an address; null if none is.
Physical* physical_at_locked(std::uintptr_t address);
// Belongs to a device's window or to a reservation: not the program's own memory.
bool address_is_reserved_locked(std::uintptr_t address);

inline bool block_multiple(std::size_t value)
{
    return value % kBlockBytes == 0;
}

} // namespace simgpu
