// tests/differential/player/fallback.cpp — calls any row of the hook table with nonsense.
//
// It passes null inputs, outputs that must stay as they are, and handles that belong to nothing. So
// a row is called from the day it is in the table; what its successes mean is left to an operation
// written for it.
#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "interpose/hooks/driver_api.hpp"
#include "tests/differential/player/operations.hpp"

// What this toolkit's cuda.h does not declare is declared by its row, and may be missing.
#define VRAMSCOPE_HOOK(symbol, base, since, streams, effect, memory, parameters, ...)              \
    extern "C" [[gnu::weak]] CUresult symbol parameters;
#include "interpose/hooks/hook_table.def"

namespace differential {
namespace {

template <class T>
struct Nonsense {
    static auto make(World& world)
    {
        using Pointee = std::remove_pointer_t<T>;
        if constexpr (std::is_same_v<T, const char*>)
            return "cuNothing";
        else if constexpr (std::is_same_v<
                               T, const void*>) // something that a driver reads, such as an image
            return static_cast<T>(scratch() + 64);
        else if constexpr (std::is_same_v<T, void*>)
            return reinterpret_cast<T>(std::uintptr_t{0x1000});
        else if constexpr (std::is_pointer_v<T>)
            return pointer(world, static_cast<Pointee*>(nullptr));
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(~T{0} - 15);
        else if constexpr (std::is_enum_v<T>)
            return std::bit_cast<T>(std::underlying_type_t<T>{0x7fff0});
        else
            return T{};
    }

private:
    template <class Pointee>
    static auto pointer(World& world, Pointee*)
    {
        if constexpr (!requires { sizeof(Pointee); })
            return reinterpret_cast<T>(scratch() + 64); // a handle
        else if constexpr (std::is_const_v<Pointee>) {
            In<std::remove_const_t<Pointee>> in;
            in.null = world.rng().chance(50);
            return in;
        } else {
            // What a number would mean is not known here, so it is told as an address, which hides
            // only how large it is.
            Out<Pointee> out(std::is_pointer_v<Pointee> ? Meaning::handle : Meaning::address);
            world.maybe_null(out);
            return out;
        }
    }
};

template <class R, class... P>
void call_with_nonsense(World& world, Entry& entry, R (*function)(P...))
{
    const auto call = [&](auto... arguments) { world.call(entry, function, arguments...); };
    call(Nonsense<P>::make(world)...);
}

struct Row {
    const char* name;
    int since;
    void (*call)(World& world);
};

constexpr Row kRows[] = {
#define VRAMSCOPE_HOOK(symbol, base, since, ...)                                                   \
    {#symbol, since, [](World& world) {                                                            \
         call_with_nonsense(world, entry_of(#symbol, reinterpret_cast<void*>(&::symbol)),          \
                            &::symbol);                                                            \
     }},
#include "interpose/hooks/hook_table.def"
};

void call_any(World& world)
{
    const Row& row = kRows[world.rng().below(std::size(kRows))];
    if (row.since > CUDA_VERSION) // the driver is as old as the toolkit
        return;
    // The first takes 4 GiB as a size; the others would read as many entries of a list.
    for (const char* exempt : {"cuMemAllocHost", "cuMemMapArrayAsync", "cuMemMapArrayAsync_ptsz"})
        if (std::strcmp(row.name, exempt) == 0)
            return;
    // Free bytes are not told with a pool, and what an out-parameter means is not known here.
    if (world.profile().pool != Pool::off && std::strncmp(row.name, "cuMemGetInfo", 12) == 0)
        return;
    row.call(world);
}

// Two at a time: with one, a few thousand sequences leave some of the table's rows out.
void nonsense(World& world)
{
    call_any(world);
    call_any(world);
}

constexpr Operation kOperations[] = {{6, &nonsense}};

} // namespace

std::span<const Operation> fallback_operations()
{
    return kOperations;
}

} // namespace differential
