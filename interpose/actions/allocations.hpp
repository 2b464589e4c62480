// interpose/actions/allocations.hpp — what gives the program memory.
#pragma once

#include <algorithm>

#include "interpose/actions/action.hpp"
#include "interpose/actions/array_bytes.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/graph_memory.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/events.hpp"
#include "interpose/serve/pools/shortage.hpp"
#include "interpose/serve/route.hpp"

namespace vramscope::hooks {

template <class Pointer>
struct Allocates {
    static constexpr bool kNullWhenRefused = true;
    Pointer* out;
    std::uint64_t bytes;
    std::uint64_t bytes_wanted() const { return bytes; }
    void succeeded(Call& call)
    {
        if (*out) // of nothing there is nothing
            record_allocation(call, number(*out), bytes, place_now(call));
    }
};

// Device memory, from the pool where there is one.
struct AllocatesDevice {
    static constexpr bool kNullWhenRefused = true;
    static constexpr bool kCapturesForbid = true;
    CUdeviceptr* out;
    std::uint64_t bytes;
    Served served{};
    std::uint64_t bytes_wanted() const { return bytes; }
    bool has_given_back() const { return served.pool; }
    template <class Ask>
    [[gnu::always_inline]] CUresult answer(Call& call, const Ask& ask)
    {
        if (pool_wanted() && out && bytes && call.ready())
            served = allocate(call, bytes);
        if (!served.pool)
            return within_limit(bytes) ? ask() : refuse(*this);
        if (served.result == CUDA_SUCCESS || served.address != DriverUpstream::kUntouched)
            [[likely]]
            *out = served.address;
        return served.result;
    }
    [[gnu::always_inline]] void succeeded(Call& call)
    {
        if (!served.pool && !pooling())
            record_allocation(call, *out, bytes, place_now(call));
        else if (!served.pool)
            took_from_driver(call, *out, bytes);
        else if (served.pooled)
            record_pooled(call, *out, bytes, served.pool->place(), served.slack);
        else
            record_allocation(call, *out, bytes, served.pool->place());
    }
};

template <class Pointer, class Size>
struct AllocatesPitched {
    static constexpr bool kNullWhenRefused = true;
    static constexpr bool kCapturesForbid = true;
    Pointer* out;
    Size* pitch;
    std::uint64_t width;
    std::uint64_t height;
    // A lower bound: the pitch is the driver's secret until it has allocated.
    std::uint64_t bytes_wanted() const
    {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(width, height, &product) ? UINT64_MAX : product;
    }
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out), *pitch * height, place_now(call));
    }
};

// The null stream of a _ptsz entry point is the thread's own.
inline CUstream per_thread_stream(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

struct AllocatesAsync {
    static constexpr bool kNullWhenRefused = true;
    CUdeviceptr* out;
    std::uint64_t bytes;
    CUstream stream;
    CUmemoryPool pool;
    std::uint64_t bytes_wanted() const { return bytes; }
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        const std::uint64_t unused = unused_bytes(pool);
        return fits(call, bytes - std::min(bytes, unused)) ? ask() : refuse(*this);
    }
    void succeeded(Call& call)
    {
        if (!*out)
            return; // of nothing there is nothing
        const format::Place place = place_of_stream(call, stream, pool);
        const std::uint64_t stack = record_allocation(call, *out, bytes, place);
        mempools_used(place.device);
        if (place.capturing) [[unlikely]]
            node_allocates(*out, stack);
    }
};

template <class Descriptor>
struct CreatesArray {
    CUarray* out;
    const Descriptor* descriptor;
    std::uint64_t bytes_wanted() const { return descriptor ? array_bytes(*descriptor, 1) : 0; }
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out), bytes_wanted(), place_now(call));
    }
};

struct CreatesMipmap {
    CUmipmappedArray* out;
    const CUDA_ARRAY3D_DESCRIPTOR* descriptor;
    unsigned levels;
    std::uint64_t bytes_wanted() const { return descriptor ? array_bytes(*descriptor, levels) : 0; }
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out), bytes_wanted(), place_now(call));
    }
};

struct CreatesPhysical {
    CUmemGenericAllocationHandle* out;
    std::uint64_t bytes;
    const CUmemAllocationProp* prop;
    std::uint64_t bytes_wanted() const { return bytes; }
    void succeeded(Call& call);
};

struct Registers {
    void* memory;
    std::uint64_t bytes;
    void succeeded(Call& call) { record_allocation(call, number(memory), bytes, place_now(call)); }
    // A range that is pinned already, for example.
    void failed(Call& call, CUresult result) { record_refusal(call, result, bytes); }
};

// A pointer into memory that another process or API owns: as large as the driver says.
struct Imports {
    CUdeviceptr* out;
    void succeeded(Call& call);
};

template <class Handle, class Descriptor>
struct ImportsSized {
    Handle* out;
    const Descriptor* descriptor;
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out), descriptor->size, place_now(call));
    }
};

struct ImportsMipmap {
    CUmipmappedArray* out;
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* descriptor;
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out),
                          array_bytes(descriptor->arrayDesc, descriptor->numLevels),
                          place_now(call));
    }
};

struct Initialises {
    static constexpr bool kTimed = false;
    static bool needs_nothing(const log::Thread& thread) { return log::is_ready(thread); }
    void failed(Call& call, CUresult result);
};

} // namespace vramscope::hooks
