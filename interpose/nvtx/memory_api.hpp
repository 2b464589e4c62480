// interpose/nvtx/memory_api.hpp — NVTX's memory extension, as far as we read it.
//
// The toolkits before CUDA 13 have no nvToolsExtMem.h. Programs pass these structures, so their
// layout is fixed; tests/interpose/nvtx/memory_api_test.cpp holds them against the header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/nvtx/text.hpp"

namespace vramscope::nvtx {

inline constexpr std::uint16_t kMemoryModule = 1;
inline constexpr std::uint16_t kMemoryVersion = 0x0102;
inline constexpr std::uint32_t kSubAllocator = 1;   // usage of a heap
inline constexpr std::uint32_t kVirtualAddress = 1; // type of a heap, of regions

struct ModuleSegment {
    std::size_t id;
    std::size_t slots;
    std::intptr_t* functions;
};

struct ModuleInfo {
    std::uint16_t nvtx_version;
    std::uint16_t struct_bytes;
    std::uint16_t module;
    std::uint16_t version;
    std::size_t segment_count;
    ModuleSegment* segments;
    void* get_export_function;
    const void* info;
};

enum Slot : std::size_t {
    kHeapRegister,
    kHeapUnregister,
    kHeapReset,
    kRegionsRegister,
    kRegionsResize,
    kRegionsUnregister,
    kRegionsName,
};

struct VirtualRange {
    std::size_t bytes;
    const void* address;
};

struct HeapDescription {
    std::uint16_t version;
    std::uint16_t struct_bytes;
    std::uint32_t reserved;
    std::uint32_t usage;
    std::uint32_t type;
    std::size_t range_bytes;
    const void* range; // a VirtualRange, if that is its type
    std::uint32_t category;
    std::uint32_t message_type;
    nvtxMessageValue_t message;
};

// The elements of each batch are `element_bytes` apart.
struct RegionsToRegister {
    std::uint16_t version;
    std::uint16_t struct_bytes;
    std::uint32_t type;
    void* heap;
    std::size_t count;
    std::size_t element_bytes;
    const void* elements;
    const void** handles; // written by the tool; null: not wanted
};

struct RegionsToResize {
    std::uint16_t version;
    std::uint16_t struct_bytes;
    std::uint32_t type;
    std::size_t count;
    std::size_t element_bytes;
    const void* elements;
};

struct RegionsToUnregister {
    std::uint16_t version;
    std::uint16_t struct_bytes;
    std::uint32_t reference_type;
    std::size_t count;
    std::size_t element_bytes;
    const void* elements; // addresses, or the handles that we gave, which are addresses too
};

struct RegionName {
    std::uint32_t reference_type;
    std::uint32_t message_type;
    const void* region; // its address, or the handle that we gave
    nvtxMessageValue_t message;
    std::uint32_t category;
    std::uint32_t reserved;
};

struct RegionsToName {
    std::uint16_t version;
    std::uint16_t struct_bytes;
    std::uint32_t reserved;
    std::size_t count;
    std::size_t element_bytes;
    const void* elements;
    std::size_t reserved1;
};

} // namespace vramscope::nvtx
