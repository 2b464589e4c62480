// tracker/format/memory.hpp — the kinds of memory, and what is true of each: one row of a table.
//
// A new kind is an enumerator and a row. All that depends on the kind asks the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace vramscope::format {

// What kind of memory an allocation is. The number is in the log.
enum class Memory : std::uint8_t {
    none = 0,
    device = 1,  // cuMemAlloc
    pitched = 2, // cuMemAllocPitch
    managed = 3,
    async = 4, // stream-ordered, from a pool
    graph = 5, // cuMemAllocAsync on a capturing stream: a graph's memory, not the program's to free
    pinned = 6,     // cuMemHostAlloc, cuMemAllocHost
    registered = 7, // cuMemHostRegister
    array = 8,
    mipmap = 9,
    physical = 10,    // cuMemCreate: a handle
    reservation = 11, // cuMemAddressReserve: addresses, no memory
    // These belong to others; here they are only open, and must be closed.
    imported = 12,          // a pointer into another's pool, or to a buffer of external memory
    ipc = 13,               // cuIpcOpenMemHandle: closed as often as it was opened
    external = 14,          // cuImportExternalMemory
    imported_mipmap = 15,   // mipmapped array in external memory
    imported_physical = 16, // cuMemImportFromShareableHandle: a handle, used as cuMemCreate's
    multicast = 17,         // cuMulticastCreate: a handle to bind memory to, mapped as memory is
    // These own memory, and have no bytes of their own.
    pool = 18,
    context = 19,
    green_context = 20,
    graph_exec = 21,
    // A block that an allocator of the program's has cut from device memory that it took from the
    // driver before: a tensor of PyTorch, a part of a heap. Its bytes are the program's; those of
    // what it was cut from are then what that allocator has reserved.
    suballocated = 22,
    segment = 23, // such memory of the driver's itself: found by readers, and in no log
    // What a launch of a graph allocated and the graph does not free: the program's to free, at the
    // address of its node, whose call stack it has.
    graph_launch = 24,
    // Views of arrays: owners that hold a handle and no memory of their own.
    texture = 25,
    surface = 26,
    // Objects of the driver's that hold no memory of the program's. Since 4.2.
    stream = 27,
    event = 28,
    graph_object = 29, // what is made executable; the memory of its nodes is `graph`
    module = 30,
    library = 31,
    // A setting of a context for which the driver takes memory. Set again, it replaces the one
    // before; nothing ends it but its context's end.
    context_limit = 32,
};

// Live blocks are found by (key space, address): a handle and a pointer may be the same number.
// They stand in the order in which a wrongly freed address is looked for: the more exact first.
enum class KeySpace : std::uint8_t {
    none,
    pointer,
    host,
    registered,
    ipc,
    mapping, // mapped ranges, which are no allocations
    array,
    mipmap,
    external,
    pool,
    physical,
    context,
    green_context,
    graph_exec,
    reservation,
    suballocated,
    texture,
    surface,
    stream,
    event,
    graph_object,
    module,
    library,
    context_limit,
};

struct KeySpaceRow {
    KeySpace space;
    bool is_range; // its keys are addresses where bytes begin; else they are handles
};

inline constexpr KeySpaceRow kKeySpaces[] = {
    {KeySpace::none, false},
    {KeySpace::pointer, true},
    {KeySpace::host, true},
    {KeySpace::registered, true},
    {KeySpace::ipc, true},
    {KeySpace::mapping, true},
    {KeySpace::array, false},
    {KeySpace::mipmap, false},
    {KeySpace::external, false},
    {KeySpace::pool, false},
    {KeySpace::physical, false},
    {KeySpace::context, false},
    {KeySpace::green_context, false},
    {KeySpace::graph_exec, false},
    {KeySpace::reservation, true},
    {KeySpace::suballocated, true},
    {KeySpace::texture, false},
    {KeySpace::surface, false},
    {KeySpace::stream, false},
    {KeySpace::event, false},
    {KeySpace::graph_object, false},
    {KeySpace::module, false},
    {KeySpace::library, false},
    {KeySpace::context_limit, false},
};

// How a kind of memory counts for the program. Only device and host memory are the program's own
// bytes. The rest is shown apart, or not at all.
enum class MemoryClass : std::uint8_t {
    device,
    host,      // pinned or registered
    addresses, // reserved, without memory
    graph,     // belongs to a graph, which frees it
    foreign,   // belongs to others, and is only open here
    owner,     // a pool, a context, …: it has no bytes of its own
    object,    // a stream, an event, …: it owns no memory of the program's either
    reserved,  // an allocator of the program's keeps it, and has cut blocks from it
    unknown,
};

// Whether a block goes with its context, as cuda.h says of cuCtxDestroy.
enum class ContextEnd : std::uint8_t { survives, dies };

// For what the driver takes device memory of its own, besides what the program asks for.
enum class DriverTakes : std::uint8_t {
    nothing,
    for_work,    // an object that work is done with
    for_context, // a context itself, or what is set up where one is opened: no work done in it
};

struct MemoryKind {
    Memory memory;
    char name[20]; // its word in JSON and in texts; no pointer, which loaders would have to set
    KeySpace space;
    MemoryClass kind;
    ContextEnd at_context_end;
    DriverTakes driver;
};

// clang-format off
inline constexpr MemoryKind kMemoryKinds[] = {
    {Memory::none,              "unknown",           KeySpace::none,          MemoryClass::unknown,   ContextEnd::survives, DriverTakes::nothing},
    {Memory::device,            "device",            KeySpace::pointer,       MemoryClass::device,    ContextEnd::dies,     DriverTakes::nothing},
    {Memory::pitched,           "pitched",           KeySpace::pointer,       MemoryClass::device,    ContextEnd::dies,     DriverTakes::nothing},
    {Memory::managed,           "managed",           KeySpace::pointer,       MemoryClass::device,    ContextEnd::dies,     DriverTakes::nothing},
    {Memory::async,             "async",             KeySpace::pointer,       MemoryClass::device,    ContextEnd::survives, DriverTakes::nothing},
    {Memory::graph,             "graph",             KeySpace::pointer,       MemoryClass::graph,     ContextEnd::survives, DriverTakes::nothing},
    {Memory::pinned,            "pinned",            KeySpace::host,          MemoryClass::host,      ContextEnd::dies,     DriverTakes::nothing},
    {Memory::registered,        "registered",        KeySpace::registered,    MemoryClass::host,      ContextEnd::survives, DriverTakes::nothing},
    {Memory::array,             "array",             KeySpace::array,         MemoryClass::device,    ContextEnd::dies,     DriverTakes::nothing},
    {Memory::mipmap,            "mipmap",            KeySpace::mipmap,        MemoryClass::device,    ContextEnd::dies,     DriverTakes::nothing},
    {Memory::physical,          "physical",          KeySpace::physical,      MemoryClass::device,    ContextEnd::survives, DriverTakes::nothing},
    {Memory::reservation,       "reservation",       KeySpace::reservation,   MemoryClass::addresses, ContextEnd::survives, DriverTakes::nothing},
    {Memory::imported,          "imported",          KeySpace::pointer,       MemoryClass::foreign,   ContextEnd::survives, DriverTakes::nothing},
    {Memory::ipc,               "ipc",               KeySpace::ipc,           MemoryClass::foreign,   ContextEnd::dies,     DriverTakes::nothing},
    {Memory::external,          "external",          KeySpace::external,      MemoryClass::foreign,   ContextEnd::dies,     DriverTakes::nothing},
    {Memory::imported_mipmap,   "imported_mipmap",   KeySpace::mipmap,        MemoryClass::foreign,   ContextEnd::dies,     DriverTakes::nothing},
    {Memory::imported_physical, "imported_physical", KeySpace::physical,      MemoryClass::foreign,   ContextEnd::survives, DriverTakes::nothing},
    {Memory::multicast,         "multicast",         KeySpace::physical,      MemoryClass::foreign,   ContextEnd::survives, DriverTakes::nothing},
    {Memory::pool,              "pool",              KeySpace::pool,          MemoryClass::owner,     ContextEnd::survives, DriverTakes::nothing},
    {Memory::context,           "context",           KeySpace::context,       MemoryClass::owner,     ContextEnd::survives, DriverTakes::for_context},
    {Memory::green_context,     "green_context",     KeySpace::green_context, MemoryClass::owner,     ContextEnd::survives, DriverTakes::nothing},
    {Memory::graph_exec,        "graph_exec",        KeySpace::graph_exec,    MemoryClass::owner,     ContextEnd::dies,     DriverTakes::for_work},
    {Memory::suballocated,      "suballocated",      KeySpace::suballocated,  MemoryClass::device,    ContextEnd::survives, DriverTakes::nothing},
    {Memory::segment,           "segment",           KeySpace::pointer,       MemoryClass::reserved,  ContextEnd::dies,     DriverTakes::nothing},
    {Memory::graph_launch,      "graph_launch",      KeySpace::pointer,       MemoryClass::device,    ContextEnd::survives, DriverTakes::nothing},
    {Memory::texture,           "texture",           KeySpace::texture,       MemoryClass::owner,     ContextEnd::dies,     DriverTakes::nothing},
    {Memory::surface,           "surface",           KeySpace::surface,       MemoryClass::owner,     ContextEnd::dies,     DriverTakes::nothing},
    {Memory::stream,            "stream",            KeySpace::stream,        MemoryClass::object,    ContextEnd::dies,     DriverTakes::for_work},
    {Memory::event,             "event",             KeySpace::event,         MemoryClass::object,    ContextEnd::dies,     DriverTakes::nothing},
    {Memory::graph_object,      "graph_object",      KeySpace::graph_object,  MemoryClass::object,    ContextEnd::survives, DriverTakes::nothing},
    {Memory::module,            "module",            KeySpace::module,        MemoryClass::object,    ContextEnd::dies,     DriverTakes::for_context},
    {Memory::library,           "library",           KeySpace::library,       MemoryClass::object,    ContextEnd::survives, DriverTakes::for_context},
    {Memory::context_limit,     "context_limit",     KeySpace::context_limit, MemoryClass::object,    ContextEnd::dies,     DriverTakes::for_context},
};
// clang-format on

template <typename Row, std::size_t kRows, typename Enum>
constexpr bool is_in_order(const Row (&rows)[kRows], Enum Row::*number) noexcept
{
    for (std::size_t at = 0; at < kRows; ++at)
        if (static_cast<std::size_t>(rows[at].*number) != at)
            return false;
    return true;
}
static_assert(is_in_order(kKeySpaces, &KeySpaceRow::space));
static_assert(is_in_order(kMemoryKinds, &MemoryKind::memory));
static_assert(
    [] {
        for (const MemoryKind& kind : kMemoryKinds)
            if (static_cast<std::size_t>(kind.space) >= std::size(kKeySpaces))
                return false;
        return true;
    }(),
    "each key space that a kind names has a row");

// A log may hold any number.
constexpr bool is_known(Memory memory) noexcept
{
    return static_cast<std::size_t>(memory) < std::size(kMemoryKinds);
}

constexpr const MemoryKind& kind_of(Memory memory) noexcept
{
    return kMemoryKinds[is_known(memory) ? static_cast<std::size_t>(memory) : 0];
}

constexpr const char* name(Memory memory) noexcept
{
    return kind_of(memory).name;
}

constexpr KeySpace key_space(Memory memory) noexcept
{
    return kind_of(memory).space;
}

constexpr bool is_range(KeySpace space) noexcept
{
    return kKeySpaces[static_cast<std::size_t>(space)].is_range;
}

constexpr MemoryClass class_of(Memory memory) noexcept
{
    return kind_of(memory).kind;
}

constexpr bool is_own_memory(Memory memory) noexcept
{
    const MemoryClass found = class_of(memory);
    return found == MemoryClass::device || found == MemoryClass::host;
}

// Something that the program makes and ends, and that has no bytes of its own.
constexpr bool is_object(Memory memory) noexcept
{
    const MemoryClass found = class_of(memory);
    return found == MemoryClass::owner || found == MemoryClass::object;
}

constexpr DriverTakes driver_takes(Memory memory) noexcept
{
    return kind_of(memory).driver;
}

constexpr bool dies_with_context(Memory memory) noexcept
{
    return kind_of(memory).at_context_end == ContextEnd::dies;
}

} // namespace vramscope::format
