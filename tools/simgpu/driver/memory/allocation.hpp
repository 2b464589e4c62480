// tools/simgpu/driver/memory/allocation.hpp — the registry of everything a pointer can point into.
//
// One ordered map for all kinds, under memory_mutex(); functions ending in _locked expect it to be
// held.
#pragma once

#include "tools/simgpu/driver/context/context.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

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
    std::size_t bytes = 0; // as asked for
    Kind kind = Kind::device;
    unsigned flags = 0; // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
    bool dirty = false;
    bool sync_memops = false;
    bool free_queued = false; // by cuMemFreeAsync: gone for the program, there for queued work
    Device* device = nullptr;
    Context* context =
        nullptr; // the owner that takes it along; null for pool, mapped and graph memory
    Pool* pool = nullptr;
    std::uint64_t id = 0;        // unique in this process
    std::uint64_t stream_id = 0; // pooled: where it was allocated
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
};

using Allocations = std::map<std::uintptr_t, Allocation>;
Allocations& allocations_locked();
Allocation& add_allocation_locked(Allocation allocation);
// The same memory as a new allocation: what was queued for the old one does not meet it.
void renew_allocation_locked(Allocation& allocation);
// The allocation that an address lies in, its last byte included.
Allocation* find_allocation_locked(std::uintptr_t address);
// The allocation that starts there.
Allocation* allocation_at_locked(std::uintptr_t start);
// Take it out and give its memory back where it came from.
void drop_allocation_locked(Allocation& allocation);

// Frees what dies with a context.
void free_memory_of(Context& context);

// True if no byte of the range belongs to a device, or all of it to living memory that may be used
// so.
bool usable(std::uintptr_t start, std::size_t bytes, bool writes);
// The program has memory there, all the way.
bool pages_exist(std::uintptr_t start, std::uintptr_t end);
// Memory that the host may not touch behind the driver's back needs no staging: pinned, managed.
bool known_to_driver(std::uintptr_t address);
bool on_device(std::uintptr_t address);

} // namespace simgpu
