// interpose/actions/owners.hpp — actions of what owns memory: contexts, pools, graphs.
#pragma once

#include "interpose/actions/allocations.hpp"
#include "interpose/serve/context_pools.hpp"
#include "interpose/serve/mempools.hpp"
#include "interpose/serve/synchronisation.hpp"

namespace vramscope::hooks {

struct CreatesContext : Action {
    CUcontext* out;
    CUdevice device;
    CreatesContext(CUcontext* out_, CUdevice device_) : out(out_), device(device_) {}
    void succeeded(Call& call)
    {
        if (const Driver* driver = Driver::find())
            record_allocation(call, number(*out), 0,
                              place_of_new(call.thread, *driver, call.hook, *out, device));
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

// May destroy a context: no synchronisation of ours may use it meanwhile.
struct EndsContext : Ends {
    SynchronisationsHeld held;
    void before(Call& call)
    {
        Ends::before(call);
        if (pooling())
            held.engage();
    }
};

struct DestroysContext : EndsContext {
    CUcontext context;
    explicit DestroysContext(CUcontext context_) : context(context_) {}
    void succeeded(Call& call) { context_gone(call, context); }
    void failed(Call& call, CUresult result)
    {
        if (context)
            record_bad_free(call, result, number(context));
    }
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

struct DetachesContext : EndsContext {
    CUcontext context;
    explicit DetachesContext(CUcontext context_) : context(context_) {}
    void succeeded(Call& call)
    {
        if (detached(context))
            context_gone(call, context);
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

struct ResetsPrimary : EndsContext {
    CUdevice device;
    explicit ResetsPrimary(CUdevice device_) : device(device_) {}
    void succeeded(Call& call) { primary_gone(call, device); }
};

struct ReleasesPrimary : ResetsPrimary {
    using ResetsPrimary::ResetsPrimary;
    void succeeded(Call& call) { primary_released(call, device); }
};

// It retains its device's primary context, and what is allocated in it is that one's.
struct CreatesGreen : Action {
    CUgreenCtx* out;
    CUdevice device;
    CreatesGreen(CUgreenCtx* out_, CUdevice device_) : out(out_), device(device_) {}
    void succeeded(Call& call)
    {
        green_created(*out, device);
        record_allocation(call, number(*out), 0, place_now(call));
    }
};

struct NamesGreen : Action {
    CUcontext* out;
    CUgreenCtx green;
    NamesGreen(CUcontext* out_, CUgreenCtx green_) : out(out_), green(green_) {}
    void succeeded(Call& call)
    {
        if (const Driver* driver = Driver::find())
            green_named(call.thread, *driver, green, *out);
    }
};

struct DestroysGreen : Frees {
    CUgreenCtx green;
    SynchronisationsHeld held;
    explicit DestroysGreen(CUgreenCtx green_) : Frees(green_), green(green_) {}
    void before(Call& call)
    {
        Frees::before(call);
        if (pooling())
            held.engage();
    }
    void succeeded(Call& call)
    {
        Frees::succeeded(call);
        call.ticks = event.ticks;
        if (const CUdevice device = green_gone(green); device >= 0)
            primary_released(call, device);
    }
};

struct CreatesMempool : Action {
    CUmemoryPool* out;
    const CUmemPoolProps* props;
    CreatesMempool(CUmemoryPool* out_, const CUmemPoolProps* props_) : out(out_), props(props_) {}
    void succeeded(Call& call);
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

struct DestroysMempool : Frees {
    CUmemoryPool pool;
    explicit DestroysMempool(CUmemoryPool pool_) : Frees(pool_), pool(pool_) {}
    void before(Call& call)
    {
        Frees::before(call);
        forget_mempool(pool);
    }
    void succeeded(Call& call)
    {
        Frees::succeeded(call);
        mempool_gone(pool);
    }
};

struct TrimsMempool : Action {
    CUmemoryPool pool;
    std::uint64_t keep;
    TrimsMempool(CUmemoryPool pool_, std::uint64_t keep_) : pool(pool_), keep(keep_) {}
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(), format::Trim{number(pool), keep});
    }
};

// From now on cuMemAllocAsync takes from this pool.
struct SetsMempool : Action {
    CUdevice device;
    const CUmemLocation* location = nullptr; // of the newer form: read once the driver took it
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemoryPool pool;
    SetsMempool(CUdevice device_, CUmemoryPool pool_) : device(device_), pool(pool_) {}
    SetsMempool(const CUmemLocation* location_, CUmemAllocationType type_, CUmemoryPool pool_)
        : device(-1), location(location_), type(type_), pool(pool_)
    {
    }
    void succeeded(Call&)
    {
        if (location && location->type == CU_MEM_LOCATION_TYPE_DEVICE)
            device = location->id;
        if (type == CU_MEM_ALLOCATION_TYPE_PINNED)
            set_current_mempool(device, pool);
    }
};

struct GetsMempool : Action {
    CUmemoryPool* out;
    const CUmemLocation* location;
    CUmemAllocationType type;
    GetsMempool(CUmemoryPool* out_, const CUmemLocation* location_, CUmemAllocationType type_)
        : out(out_), location(location_), type(type_)
    {
    }
    void succeeded(Call& call);
};

// The address is the graph's: each launch allocates it again, without a call.
struct AddsMemoryNode : Action {
    const CUDA_MEM_ALLOC_NODE_PARAMS* params;
    explicit AddsMemoryNode(const CUDA_MEM_ALLOC_NODE_PARAMS* params_) : params(params_) {}
    void succeeded(Call& call)
    {
        record_allocation(call, params->dptr, params->bytesize, place_now(call));
    }
    void failed(Call& call, CUresult result)
    {
        record_shortage(call, result, params ? params->bytesize : 0);
    }
};

struct AddsNode : Action {
    const CUgraphNodeParams* params;
    explicit AddsNode(const CUgraphNodeParams* params_) : params(params_) {}
    void succeeded(Call& call)
    {
        if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            record_allocation(call, params->alloc.dptr, params->alloc.bytesize, place_now(call));
    }
    void failed([[maybe_unused]] Call& call, [[maybe_unused]] CUresult result)
    {
#if CUDA_VERSION >= 12020
        if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            record_shortage(call, result, params->alloc.bytesize);
#endif
    }
};

} // namespace vramscope::hooks
