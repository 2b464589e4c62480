// tools/simgpu/driver/memory/physical.hpp — physical memory of virtual memory management.
//
// It is a piece of a device's file, or, if it can be exported, a file of its own, which tells the
// importer all about it. It lives as long as a handle, a mapping or a binding refers to it, and it
// outlives contexts. All of it is under memory_mutex().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>

#include "tools/simgpu/driver/base/slots.hpp"
#include "tools/simgpu/driver/context/device.hpp"

namespace simgpu {

struct Physical;

// Memory of one device that is bound into a multicast object, and kept unless it is a pool's.
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
    // Devices of other processes join a shareable object without being seen here.
    bool complete() const { return devices.size() == team || (shareable && !devices.empty()); }
};

// Memory, or a multicast object, which has the same handles and mappings.
struct Physical {
    std::atomic<bool> alive{false};
    CUmemAllocationProp properties{};
    Device* device = nullptr; // null for a multicast object
    std::size_t bytes = 0;
    std::uintptr_t place = 0; // in the device's window; 0 if it has its own file
    int file = -1;
    bool charged = false; // false for imported memory, which the exporter pays for
    unsigned handles = 0;
    unsigned uses = 0; // mappings and bindings
    std::unique_ptr<Multicast> multicast;
};

// Null if the handle was released as often as it was given out.
Physical* physical_of(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle handle_of(Physical* physical);
// Makes one with one handle and without memory.
Physical* make_physical(const CUmemAllocationProp& properties, Device* device, std::size_t bytes);
CUmemGenericAllocationHandle make_multicast(int file, unsigned team, bool shareable,
                                            std::size_t bytes);
void unbind_all(Multicast& multicast);
void release_if_unused(Physical& physical);

// The physical memory mapped at an address; null if none is.
Physical* physical_at_locked(std::uintptr_t address);
// Whether the address lies in a device's window or in a reservation: it is not the
// program's own memory.
bool address_is_reserved_locked(std::uintptr_t address);

inline bool block_multiple(std::size_t value)
{
    return value % kBlockBytes == 0;
}

} // namespace simgpu
