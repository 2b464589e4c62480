// interpose/hooks/actions.hpp — what a row of the hook table does around the driver's call.
//
// Each action has before(), for what must be known while the memory is still the program's, and
// succeeded(), which records; failed() records the failures that say something. All run with the
// thread marked as inside, and touch the program's out-parameters only to read what a successful
// call wrote.
#pragma once

#include "interpose/hooks/contexts.hpp"

namespace vramscope::hooks {

// One call of a hooked entry point by the program.
struct Call {
    log::Thread& thread;
    Hook hook;
    log::CallSite site;
    std::uint64_t ticks = 0; // for what ends memory: from before the driver's call

    std::uint64_t api() const { return static_cast<std::uint64_t>(hook); }
    bool ready() { return log::ready(thread, kOpening); }
};

// Addresses and handles are numbers in the log.
template <class T>
std::uint64_t number(T value)
{
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<std::uintptr_t>(value);
    else
        return value;
}

struct Action {
    void before(Call&) {}
    void succeeded(Call&) {}
    void failed(Call&, CUresult) {}
};

void record_alloc(Call& call, std::uint64_t address, std::uint64_t bytes,
                  const format::Place& place);
// An allocation failed: worth a record if memory was short.
void record_short(Call& call, CUresult result, std::uint64_t bytes);
void record_bad_free(Call& call, CUresult result, std::uint64_t address);
format::Place place_of_stream(Call& call, CUstream stream, CUmemoryPool pool);

// The calling thread's current context and its device.
format::Place place_now(Call& call);

template <class Pointer>
struct Allocates : Action {
    Pointer* out;
    std::uint64_t bytes;
    Allocates(Pointer* out_, std::uint64_t bytes_) : out(out_), bytes(bytes_) {}
    void succeeded(Call& call) { record_alloc(call, number(*out), bytes, place_now(call)); }
    void failed(Call& call, CUresult result) { record_short(call, result, bytes); }
};

template <class Pointer, class Size>
struct AllocatesPitched : Action {
    Pointer* out;
    Size* pitch;
    std::uint64_t height;
    AllocatesPitched(Pointer* out_, Size* pitch_, std::uint64_t height_)
        : out(out_), pitch(pitch_), height(height_)
    {
    }
    void succeeded(Call& call)
    {
        record_alloc(call, number(*out), *pitch * height, place_now(call));
    }
    void failed(Call& call, CUresult result) { record_short(call, result, 0); }
};

struct Registers : Action {
    void* memory;
    std::uint64_t bytes;
    Registers(void* memory_, std::uint64_t bytes_) : memory(memory_), bytes(bytes_) {}
    void succeeded(Call& call) { record_alloc(call, number(memory), bytes, place_now(call)); }
};

// What an array takes, by its descriptor: the driver tells only for arrays that are mapped later,
// and those own no memory. Tiling and padding are the driver's secret, so this is a lower bound.
template <class Descriptor>
std::uint64_t array_bytes(const Descriptor& array, unsigned levels)
{
    const auto element = [](CUarray_format format) -> std::uint64_t {
        switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        default:
            return 4;
        }
    };
    const auto side = [](std::uint64_t length, unsigned level) {
        return length == 0 ? 1 : length >> level ? length >> level : 1;
    };
    std::uint64_t depth = 1;
    if constexpr (requires { array.Flags; }) {
        if (array.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING)
            return 0;
        depth = array.Depth;
    }
    std::uint64_t elements = 0;
    for (unsigned level = 0; level < levels && level < 32; ++level)
        elements += side(array.Width, level) * side(array.Height, level) * side(depth, level);
    return elements * array.NumChannels * element(array.Format);
}

template <class Descriptor>
struct CreatesArray : Action {
    CUarray* out;
    const Descriptor* descriptor;
    CreatesArray(CUarray* out_, const Descriptor* descriptor_) : out(out_), descriptor(descriptor_)
    {
    }
    void succeeded(Call& call)
    {
        record_alloc(call, number(*out), array_bytes(*descriptor, 1), place_now(call));
    }
    void failed(Call& call, CUresult result) { record_short(call, result, 0); }
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
    void succeeded(Call& call)
    {
        record_alloc(call, number(*out), array_bytes(*descriptor, levels), place_now(call));
    }
    void failed(Call& call, CUresult result) { record_short(call, result, 0); }
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
    void succeeded(Call& call)
    {
        record_alloc(call, *out, bytes, place_of_stream(call, stream, pool));
    }
    void failed(Call& call, CUresult result) { record_short(call, result, bytes); }
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

struct FreesAsync : Frees {
    CUstream stream;
    bool capturing = false; // then it makes a node of a graph, and frees nothing now
    FreesAsync(CUdeviceptr address_, CUstream stream_) : Frees(address_), stream(stream_) {}
    void before(Call& call)
    {
        Frees::before(call);
        capturing = place_of_stream(call, stream, nullptr).capturing;
    }
    void succeeded(Call& call)
    {
        if (!capturing)
            Frees::succeeded(call);
        else if (begun)
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
    void succeeded(Call& call);
    void failed(Call& call, CUresult result) { record_short(call, result, bytes); }
};

struct RetainsPhysical : Action {
    CUmemGenericAllocationHandle* out;
    explicit RetainsPhysical(CUmemGenericAllocationHandle* out_) : out(out_) {}
    void succeeded(Call& call) { log::record_retain(call.thread, call.api(), *out); }
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
        log::record_map(call.thread, call.api(), address, bytes, handle, 0, call.site);
    }
};

struct Unmaps : Ends {
    CUdeviceptr address;
    std::uint64_t bytes;
    Unmaps(CUdeviceptr address_, std::uint64_t bytes_) : address(address_), bytes(bytes_) {}
    void succeeded(Call& call)
    {
        log::record_unmap(call.thread, call.api(), call.ticks, address, bytes);
    }
    void failed(Call& call, CUresult result) { record_bad_free(call, result, address); }
};

struct DestroysContext : Ends {
    CUcontext context;
    explicit DestroysContext(CUcontext context_) : context(context_) {}
    void succeeded(Call& call) { context_gone(call.thread, call.hook, call.ticks, context); }
};

struct AttachesContext : Action {
    CUcontext* out;
    explicit AttachesContext(CUcontext* out_) : out(out_) {}
    void succeeded(Call& call)
    {
        (void)place_now(call); // it is the current one: make it known
        attached(*out);
    }
};

struct DetachesContext : Ends {
    CUcontext context;
    explicit DetachesContext(CUcontext context_) : context(context_) {}
    void succeeded(Call& call)
    {
        if (detached(context))
            context_gone(call.thread, call.hook, call.ticks, context);
    }
};

struct RetainsPrimary : Action {
    CUcontext* out;
    CUdevice device;
    RetainsPrimary(CUcontext* out_, CUdevice device_) : out(out_), device(device_) {}
    void succeeded(Call& call)
    {
        if (const Driver* driver = Driver::find())
            note_primary(call.thread, *driver, *out, device);
    }
};

struct ResetsPrimary : Ends {
    CUdevice device;
    explicit ResetsPrimary(CUdevice device_) : device(device_) {}
    void succeeded(Call& call) { primary_gone(call.thread, call.hook, call.ticks, device); }
};

// The last release destroys it; only the driver knows how many there were.
struct ReleasesPrimary : ResetsPrimary {
    using ResetsPrimary::ResetsPrimary;
    void succeeded(Call& call);
};

struct Initialises : Action {
    void failed(Call& call, CUresult result);
};

// A look-up through the driver: the program gets our wrapper where the driver gave its own
// function.
struct LooksUp {
    const char* symbol;
    void** out;
    int version;
    cuuint64_t flags;
    LooksUp(const char* symbol_, void** out_, int version_, cuuint64_t flags_)
        : symbol(symbol_), out(out_), version(version_), flags(flags_)
    {
    }
    void substitute(const Driver& driver) const noexcept;
};

} // namespace vramscope::hooks
