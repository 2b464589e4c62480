// interpose/actions/owners.hpp — what owns memory: contexts, and CUDA's own pools.
#pragma once

#include "interpose/actions/frees.hpp"
#include "interpose/serve/contexts/free_around.hpp"
#include "interpose/serve/contexts/mempools.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "interpose/serve/pools/shortage.hpp"

namespace vramscope::hooks {

struct CreatesContext {
    CUcontext* out;
    CUdevice device;
    FreeAround asked{};
    void before(Call&) { asked.before(device); }
    void succeeded(Call& call)
    {
        if (const Driver* driver = Driver::find())
            record_allocation(
                call, number(*out), 0,
                place_of_new(call, *driver, *out, device, asked.after(format::Opening::created)));
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

// The call may destroy a context, so no synchronisation of ours may use it meanwhile.
struct ContextEnds {
    SynchronisationsHeld held{};
    void begin(Call& call)
    {
        call.take_ticks();
        hold();
    }
    void hold()
    {
        if (pooling())
            held.engage();
    }
};

struct DestroysContext {
    CUcontext context;
    ContextEnds end{};
    void before(Call& call) { end.begin(call); }
    void succeeded(Call& call) { context_gone(call, context); }
    void failed(Call& call, CUresult result)
    {
        if (context)
            record_bad_free(call, result, number(context));
    }
};

struct AttachesContext {
    CUcontext* out;
    void succeeded(Call& call)
    {
        (void)place_now(call); // it is the current context: make it known
        attached(*out);
    }
};

struct DetachesContext {
    CUcontext context;
    ContextEnds end{};
    void before(Call& call) { end.begin(call); }
    void succeeded(Call& call)
    {
        if (detached(context))
            context_gone(call, context);
    }
};

struct RetainsPrimary {
    CUcontext* out;
    CUdevice device;
    FreeAround asked{};
    void before(Call&)
    {
        if (!knows_primary(device))
            asked.before(device);
    }
    void succeeded(Call& call)
    {
        if (const Driver* driver = Driver::find())
            note_primary(call, *driver, *out, device, asked.after(format::Opening::retained));
    }
};

struct ReleasesPrimary {
    CUdevice device;
    ContextEnds end{};
    void before(Call& call) { end.begin(call); }
    void succeeded(Call& call) { primary_released(call, device); }
};

struct ResetsPrimary {
    CUdevice device;
    ContextEnds end{};
    void before(Call& call) { end.begin(call); }
    void succeeded(Call& call) { primary_gone(call, device); }
};

// It retains its device's primary context, to which what is allocated in it belongs.
struct CreatesGreen {
    CUgreenCtx* out;
    CUdevice device;
    void succeeded(Call& call)
    {
        green_created(*out, device);
        record_allocation(call, number(*out), 0, place_on(call, device));
    }
};

struct NamesGreen {
    CUcontext* out;
    CUgreenCtx green;
    void succeeded(Call& call)
    {
        if (const Driver* driver = Driver::find())
            green_named(call, *driver, green, *out);
    }
};

struct DestroysGreen {
    CUgreenCtx green;
    FreeRecord record{};
    ContextEnds end{};
    void before(Call& call)
    {
        record.begin(call, number(green));
        end.hold();
    }
    void succeeded(Call& call)
    {
        record.succeeded(call);
        call.ticks = record.event.ticks;
        if (const CUdevice device = green_gone(green); device >= 0)
            primary_released(call, device);
    }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
};

inline constexpr int kManagedMempool = 2; // CU_MEM_ALLOCATION_TYPE_MANAGED, new in CUDA 13.0

template <class Props> // the member is not in the oldest headers
std::uint64_t maximum_of(const Props& props)
{
    if constexpr (requires { props.maxSize; })
        return props.maxSize;
    return 0;
}

struct CreatesMempool {
    CUmemoryPool* out;
    const CUmemPoolProps* props;
    void succeeded(Call& call)
    {
        mempools_used(props->location.id);
        record_allocation(call, number(*out), 0, place_on(call, device_of(props->location)));
        note_mempool(call.thread,
                     {number(*out), props->location.type, props->location.id,
                      props->allocType == kManagedMempool},
                     maximum_of(*props));
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

struct DestroysMempool {
    CUmemoryPool pool;
    FreeRecord record{};
    void before(Call& call)
    {
        record.begin(call, number(pool));
        forget_mempool(pool);
    }
    void succeeded(Call& call)
    {
        record.succeeded(call);
        mempool_gone(pool);
    }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
};

struct TrimsMempool {
    CUmemoryPool pool;
    std::uint64_t keep;
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(), format::Trim{number(pool), keep});
    }
};

// From now on cuMemAllocAsync takes from this pool.
struct SetsDeviceMempool {
    CUdevice device;
    CUmemoryPool pool;
    void succeeded(Call&) { set_current_mempool(device, pool); }
};

struct SetsMempool {
    const CUmemLocation* location;
    CUmemAllocationType type;
    CUmemoryPool pool;
    void succeeded(Call&)
    {
        if (location && location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
            type == CU_MEM_ALLOCATION_TYPE_PINNED)
            set_current_mempool(location->id, pool);
    }
};

struct GetsMempool {
    CUmemoryPool* out;
    const CUmemLocation* location;
    CUmemAllocationType type;
    void succeeded(Call& call)
    {
        note_mempool(call.thread,
                     {number(*out), location->type, location->id, type == kManagedMempool});
    }
};

} // namespace vramscope::hooks
