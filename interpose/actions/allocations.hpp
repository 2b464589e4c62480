// interpose/actions/allocations.hpp — what a row of the hook table does around the driver's call.
//
// Each action has before(), for what must be known while the memory is still the program's;
// answer(), which asks the driver, unless the pool answers (pool_actions.hpp); succeeded(), which
// records; failed() records the failures that say something. All run with the thread marked as
// inside.
#pragma once

#include <algorithm>

#include "interpose/actions/array_bytes.hpp"
#include "interpose/serve/contexts.hpp"
#include "interpose/serve/limits.hpp"
#include "interpose/serve/recording.hpp"
#include "interpose/serve/shortage.hpp"

namespace vramscope::hooks {

struct Action {
    // What its calls take in the driver is told. Not of questions, which are asked in a loop, and
    // of calls that only say what the pool may do.
    static constexpr bool kTimed = true;
    void before(Call&) {}
    // `ask` is the driver's call.
    template <class Ask>
    CUresult answer(Call&, Ask ask)
    {
        return ask();
    }
    void succeeded(Call&) {}
    void failed(Call&, CUresult) {}
};

template <class Pointer>
struct Allocates : Action {
    Pointer* out;
    std::uint64_t bytes;
    Allocates(Pointer* out_, std::uint64_t bytes_) : out(out_), bytes(bytes_) {}
    template <class Ask>
    CUresult answer(Call& call, Ask ask)
    {
        return fits(call, bytes) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
    }
    void succeeded(Call& call) { record_allocation(call, number(*out), bytes, place_now(call)); }
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes); }
};

template <class Pointer, class Size>
struct AllocatesPitched : Action {
    Pointer* out;
    Size* pitch;
    std::uint64_t width;
    std::uint64_t height;
    AllocatesPitched(Pointer* out_, Size* pitch_, std::uint64_t width_, std::uint64_t height_)
        : out(out_), pitch(pitch_), width(width_), height(height_)
    {
    }
    // A lower bound: the pitch is the driver's secret until it has allocated.
    std::uint64_t bytes() const
    {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(width, height, &product) ? UINT64_MAX : product;
    }
    template <class Ask>
    CUresult answer(Call& call, Ask ask)
    {
        return fits(call, bytes()) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
    }
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out), *pitch * height, place_now(call));
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes()); }
};

// A pointer into memory that another process or API owns: as large as the driver says.
struct Imports : Action {
    CUdeviceptr* out;
    explicit Imports(CUdeviceptr* out_) : out(out_) {}
    void succeeded(Call& call);
};

template <class Handle, class Descriptor>
struct ImportsSized : Action {
    Handle* out;
    const Descriptor* descriptor;
    ImportsSized(Handle* out_, const Descriptor* descriptor_) : out(out_), descriptor(descriptor_)
    {
    }
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out), descriptor->size, place_now(call));
    }
};

struct ImportsMipmap : Action {
    CUmipmappedArray* out;
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* descriptor;
    ImportsMipmap(CUmipmappedArray* out_,
                  const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* descriptor_)
        : out(out_), descriptor(descriptor_)
    {
    }
    void succeeded(Call& call)
    {
        record_allocation(call, number(*out),
                          array_bytes(descriptor->arrayDesc, descriptor->numLevels),
                          place_now(call));
    }
};

// Memory, a handle or a pool gets a name that others can open.
struct Shares : Action {
    static constexpr bool kTimed = false;
    std::uint64_t address;
    template <class Pointer>
    explicit Shares(Pointer pointer) : address(number(pointer))
    {
    }
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(), format::Shared{address});
    }
};

struct Registers : Action {
    void* memory;
    std::uint64_t bytes;
    Registers(void* memory_, std::uint64_t bytes_) : memory(memory_), bytes(bytes_) {}
    void succeeded(Call& call) { record_allocation(call, number(memory), bytes, place_now(call)); }
};

template <class Descriptor>
struct CreatesArray : Action {
    CUarray* out;
    const Descriptor* descriptor;
    CreatesArray(CUarray* out_, const Descriptor* descriptor_) : out(out_), descriptor(descriptor_)
    {
    }
    std::uint64_t bytes() const { return descriptor ? array_bytes(*descriptor, 1) : 0; }
    template <class Ask>
    CUresult answer(Call& call, Ask ask)
    {
        return fits(call, bytes()) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
    }
    void succeeded(Call& call) { record_allocation(call, number(*out), bytes(), place_now(call)); }
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes()); }
};

struct CreatesMipmap : Action {
    CUmipmappedArray* out;
    const CUDA_ARRAY3D_DESCRIPTOR* descriptor;
    unsigned levels;
    CreatesMipmap(CUmipmappedArray* out_, const CUDA_ARRAY3D_DESCRIPTOR* descriptor_,
                  unsigned levels_)
        : out(out_), descriptor(descriptor_), levels(levels_)
    {
    }
    std::uint64_t bytes() const { return descriptor ? array_bytes(*descriptor, levels) : 0; }
    template <class Ask>
    CUresult answer(Call& call, Ask ask)
    {
        return fits(call, bytes()) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
    }
    void succeeded(Call& call) { record_allocation(call, number(*out), bytes(), place_now(call)); }
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes()); }
};

// The null stream of a _ptsz entry point is the thread's own.
inline CUstream per_thread_stream(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

struct AllocatesAsync : Action {
    CUdeviceptr* out;
    std::uint64_t bytes;
    CUstream stream;
    CUmemoryPool pool;
    AllocatesAsync(CUdeviceptr* out_, std::uint64_t bytes_, CUstream stream_, CUmemoryPool pool_)
        : out(out_), bytes(bytes_), stream(stream_), pool(pool_)
    {
    }
    template <class Ask>
    CUresult answer(Call& call, Ask ask)
    {
        const std::uint64_t unused = unused_bytes(pool);
        return fits(call, bytes - std::min(bytes, unused)) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
    }
    void succeeded(Call& call)
    {
        record_allocation(call, *out, bytes, place_of_stream(call, stream, pool));
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes); }
};

// What ends memory takes its time before the call: the address may be another thread's as soon as
// it is free.
struct Ends : Action {
    void before(Call& call)
    {
        if (call.ready())
            call.ticks = log::now();
    }
};

struct Frees : Action {
    format::Free event{};
    bool begun = false;
    template <class Pointer>
    explicit Frees(Pointer pointer)
    {
        event.address = number(pointer);
    }
    void before(Call& call)
    {
        begun = event.address && call.ready();
        if (!begun)
            return;
        event.api = call.api();
        log::begin_free(call.thread, event, call.site);
        call.began = event.ticks;
    }
    void succeeded(Call& call)
    {
        if (begun)
            log::record_free(call.thread, event);
    }
    void failed(Call& call, CUresult result)
    {
        if (!begun || !call.ready())
            return;
        record_bad_free(call, result, event.address);
        log::abandon_free(call.thread);
    }
};

struct CreatesPhysical : Action {
    CUmemGenericAllocationHandle* out;
    std::uint64_t bytes;
    const CUmemAllocationProp* prop;
    CreatesPhysical(CUmemGenericAllocationHandle* out_, std::uint64_t bytes_,
                    const CUmemAllocationProp* prop_)
        : out(out_), bytes(bytes_), prop(prop_)
    {
    }
    template <class Ask>
    CUresult answer(Call& call, Ask ask)
    {
        return fits(call, bytes) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
    }
    void succeeded(Call& call);
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes); }
};

struct RetainsPhysical : Action {
    CUmemGenericAllocationHandle* out;
    explicit RetainsPhysical(CUmemGenericAllocationHandle* out_) : out(out_) {}
    void succeeded(Call& call)
    {
        log::write(call.thread, {log::now(), call.api()}, format::Retain{*out});
    }
};

struct Maps : Action {
    CUdeviceptr address;
    std::uint64_t bytes;
    CUmemGenericAllocationHandle handle;
    Maps(CUdeviceptr address_, std::uint64_t bytes_, CUmemGenericAllocationHandle handle_)
        : address(address_), bytes(bytes_), handle(handle_)
    {
    }
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(),
                              format::Map{address, bytes, handle});
    }
};

// Parts of sparse arrays, each under a number made of the array and the place in it.
struct MapsTiles : Ends {
    const CUarrayMapInfo* list;
    unsigned count;
    MapsTiles(const CUarrayMapInfo* list_, unsigned count_) : list(list_), count(count_) {}
    void succeeded(Call& call);
};

struct Unmaps : Ends {
    CUdeviceptr address;
    std::uint64_t bytes;
    Unmaps(CUdeviceptr address_, std::uint64_t bytes_) : address(address_), bytes(bytes_) {}
    void succeeded(Call& call)
    {
        log::write(call.thread, {call.ticks, call.api()}, format::Unmap{address, bytes});
    }
    void failed(Call& call, CUresult result) { record_bad_free(call, result, address); }
};

struct Initialises : Action {
    static constexpr bool kTimed = false;
    void failed(Call& call, CUresult result);
};

} // namespace vramscope::hooks
