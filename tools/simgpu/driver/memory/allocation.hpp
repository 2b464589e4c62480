// tools/simgpu/driver/memory/allocation.hpp — the registry of everything a pointer can point into.
//
// It is one ordered map for all kinds, under memory_mutex(). Functions whose name ends in _locked
// expect that mutex to be held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {

struct Pool;

enum class Kind : std::uint8_t {
    device,         // cuMemAlloc, cuMemAllocPitch
    managed,        // cuMemAllocManaged
    host,           // cuMemHostAlloc, cuMemAllocHost
    registered,     // cuMemHostRegister
    pooled,         // cuMemAllocAsync and its pool
    mapped,         // cuMemMap
    imported,       // cuIpcOpenMemHandle
    pool_import,    // cuMemPoolImportPointer
    external,       // cuExternalMemoryGetMappedBuffer
    external_array, // cuExternalMemoryGetMappedMipmappedArray: opaque to the program
    graph,          // a graph's allocation node
    global,         // a module's variable
    array,          // opaque to the program
};

struct Allocation {
    std::uintptr_t start = 0;
    std::size_t bytes = 0; // as the program asked for
    Kind kind = Kind::device;
    unsigned flags = 0; // what the program gave for host or managed memory
    bool dirty = false;
    bool sync_memops = false;
    // By cuMemFreeAsync: it is gone for the program, but queued work may still use it.
    bool free_queued = false;
    Device* device = nullptr;
    Context* context = nullptr; // whose end it ends with; null for pool, mapped and graph memory
    Pool* pool = nullptr;
    std::uint64_t imported_from = 0; // of a pool's import: where it is in the exporter's device
    std::uint64_t id = 0;            // unique in this process
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
};

using Allocations = std::map<std::uintptr_t, Allocation>;
Allocations& allocations_locked();
Allocation& add_allocation_locked(Allocation allocation);
// The same memory becomes a new allocation, which work queued for the old one does not meet.
void renew_allocation_locked(Allocation& allocation);
// The allocation that the address lies in; null if there is none.
Allocation* find_allocation_locked(std::uintptr_t address);
// The allocation that starts there; null if there is none.
Allocation* allocation_at_locked(std::uintptr_t start);
// Removes it and gives its memory back to where it came from.
void drop_allocation_locked(Allocation& allocation);

// Frees the memory that ends with a context.
void free_memory_of(Context& context);

// True if all of the range is living memory that may be used so, or if all of it is memory of the
// program that the driver does not know.
bool usable(std::uintptr_t start, std::size_t bytes, bool writes);
// Whether the program has memory all the way.
bool pages_exist(std::uintptr_t start, std::uintptr_t end);
// Memory that the driver knows, pinned or managed memory too, needs no staging.
bool known_to_driver(std::uintptr_t address);
bool on_device(std::uintptr_t address);

} // namespace simgpu
