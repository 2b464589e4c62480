// interpose/actions/questions.hpp — questions about memory, and what marks or shares it.
//
// To the program, what it freed is unknown, even where the driver still has it. The driver is then
// asked about an address that it cannot know, so that the answer is the driver's own. A block that
// is part of a segment (VRAMSCOPE_POOL=split) is answered as an allocation of its own, or refused.
#pragma once

#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/device_memory.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/pools/shortage.hpp"
#include "interpose/serve/route.hpp"

namespace vramscope::hooks {

// The block that the program's pointer points into, if a pool has it. Where the driver must not be
// asked about it, `pointer` is changed to an address that is never given out, for as long as this
// object lives.
template <class Pointer>
class AskedAbout {
public:
    explicit AskedAbout(Pointer& pointer) noexcept : pointer_(pointer), shown_(pointer)
    {
        if (!pointer || !pooling())
            return;
        found = find_block(number(pointer));
        if (found.is_dead())
            pointer_ = static_cast<Pointer>(dead_address());
    }
    ~AskedAbout() { pointer_ = shown_; }
    AskedAbout(const AskedAbout&) = delete;
    AskedAbout& operator=(const AskedAbout&) = delete;

    bool is_part() const noexcept { return found.is_live() && !found.whole; }

    Found found;

private:
    Pointer& pointer_;
    const Pointer shown_;
};

// Without a pool the driver's answers are the program's.
inline bool shows_all(const log::Thread& thread) noexcept
{
    return log::is_ready(thread) && !pool_wanted();
}

// Refuses what VRAMSCOPE_POOL=split cannot do, and says so once for each entry point.
[[nodiscard]] CUresult refuse(Call& call) noexcept;

// Asks for what stays with the driver's whole allocation. It is refused for a part of a segment,
// and a block that got it is not kept at its free.
template <class Pointer, class Ask>
CUresult ask_for_whole(Call& call, Pointer& pointer, const Ask& ask)
{
    const AskedAbout asked(pointer);
    if (asked.is_part())
        return refuse(call);
    const CUresult result = ask();
    if (result == CUDA_SUCCESS)
        pin(asked.found);
    return result;
}

template <class Base, class Size, class Pointer>
struct AsksRange {
    static constexpr bool kTimed = false;
    static bool needs_nothing(const log::Thread& thread) { return shows_all(thread); }
    Base* base;
    Size* bytes;
    Pointer& pointer;
    template <class Ask>
    CUresult answer(Call&, const Ask& ask)
    {
        const AskedAbout asked(pointer);
        const CUresult result = ask();
        if (result == CUDA_SUCCESS && asked.found.is_live() && !asked.found.exact) {
            if (base)
                *base = static_cast<Base>(asked.found.address);
            if (bytes)
                *bytes = static_cast<Size>(asked.found.bytes);
        }
        return result;
    }
};

// What is cached counts as free, since the program would get it.
template <class Size>
struct AsksMemory {
    Size* free;
    Size* total;
    void succeeded(Call& call)
    {
        if (sizeof(Size) == sizeof(std::uint64_t) && free && total)
            program_asked_memory(call, *free, *total);
        std::uint64_t free_bytes = free ? *free : 0;
        std::uint64_t total_bytes = total ? *total : device_bytes();
        apply_limit(free_bytes, total_bytes);
        free_bytes += pooling() ? releasable_bytes(place_now(call).device) : 0;
        if (free)
            *free = static_cast<Size>(free_bytes < total_bytes ? free_bytes : total_bytes);
        if (total)
            *total = static_cast<Size>(total_bytes);
    }
};

template <class Size>
struct AsksTotal {
    static constexpr bool kTimed = false;
    Size* bytes;
    void succeeded(Call&) { *bytes = static_cast<Size>(limited_total(*bytes)); }
};

// A handle or a pool gets a name that others can open.
template <class Handle>
struct Shares {
    static constexpr bool kTimed = false;
    Handle handle;
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(), format::Shared{number(handle)});
    }
};

// Memory gets such a name, which stays good until the memory is freed; the pool does not
// keep it then.
template <class Pointer>
struct SharesBlock {
    static constexpr bool kTimed = false;
    Pointer& pointer;
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        return ask_for_whole(call, pointer, ask);
    }
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(), format::Shared{number(pointer)});
    }
};

struct AsksAttributes {
    static constexpr bool kTimed = false;
    static bool needs_nothing(const log::Thread& thread) { return shows_all(thread); }
    unsigned count;
    const CUpointer_attribute* attributes;
    void** data;
    CUdeviceptr& pointer;
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        const AskedAbout asked(pointer);
        if (asked.is_part() && exports_memory())
            return refuse(call);
        const CUresult result = ask();
        if (result == CUDA_SUCCESS && asked.found.is_live())
            correct(asked.found);
        return result;
    }
    bool exports_memory() const noexcept;
    void correct(const Found& block) const noexcept;
};

struct AsksAttribute {
    static constexpr bool kTimed = false;
    static bool needs_nothing(const log::Thread& thread) { return shows_all(thread); }
    void* datum;
    CUpointer_attribute attribute;
    CUdeviceptr& pointer;
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        return AsksAttributes(1, &attribute, &datum, pointer).answer(call, ask);
    }
};

// An attribute that is set stays with the driver's allocation.
struct SetsAttribute {
    static constexpr bool kTimed = false;
    static bool needs_nothing(const log::Thread& thread) { return shows_all(thread); }
    CUdeviceptr& pointer;
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        return ask_for_whole(call, pointer, ask);
    }
};

} // namespace vramscope::hooks
