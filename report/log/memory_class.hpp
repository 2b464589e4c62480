// report/log/memory_class.hpp — what a kind of memory is to the program's account.
//
// Only device and host memory are the program's own bytes. The rest is shown apart, or not at all.
#pragma once

#include <cstdint>

#include "tracker/format/record.hpp"

namespace vramscope::report {

enum class MemoryClass : std::uint8_t {
    device,
    host,      // pinned or registered
    addresses, // reserved, without memory
    graph,     // of a graph: it frees it
    foreign,   // somebody else's, only open here
    owner,     // a pool, a context, …: no bytes of its own
    unknown,
};

constexpr MemoryClass class_of(format::Memory memory) noexcept
{
    using format::Memory;
    switch (memory) {
    case Memory::device:
    case Memory::pitched:
    case Memory::managed:
    case Memory::async:
    case Memory::array:
    case Memory::mipmap:
    case Memory::physical:
        return MemoryClass::device;
    case Memory::pinned:
    case Memory::registered:
        return MemoryClass::host;
    case Memory::reservation:
        return MemoryClass::addresses;
    case Memory::graph:
        return MemoryClass::graph;
    case Memory::imported:
    case Memory::ipc:
    case Memory::external:
    case Memory::imported_mipmap:
    case Memory::imported_physical:
    case Memory::multicast:
        return MemoryClass::foreign;
    case Memory::pool:
    case Memory::context:
    case Memory::green_context:
    case Memory::graph_exec:
        return MemoryClass::owner;
    case Memory::none:
        break;
    }
    return MemoryClass::unknown;
}

constexpr bool is_own_memory(format::Memory memory) noexcept
{
    const MemoryClass found = class_of(memory);
    return found == MemoryClass::device || found == MemoryClass::host;
}

// By cuda.h's word on cuCtxDestroy. Virtual memory, memory of pools and registered memory survive.
constexpr bool dies_with_context(format::Memory memory) noexcept
{
    using format::Memory;
    switch (memory) {
    case Memory::device:
    case Memory::pitched:
    case Memory::managed:
    case Memory::pinned:
    case Memory::array:
    case Memory::mipmap:
    case Memory::ipc:
    case Memory::external:
    case Memory::imported_mipmap:
    case Memory::graph_exec:
        return true;
    default:
        return false;
    }
}

} // namespace vramscope::report
