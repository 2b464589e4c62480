// interpose/actions/frees.hpp — actions that the pool may answer in the driver's place, and
// those that tell it when memory may be used again.
//
// answer() is called instead of the driver; `ask` makes the program's call, with its arguments as
// they are then.
#pragma once

#include "interpose/actions/owners.hpp"
#include "interpose/actions/questions.hpp"
#include "interpose/serve/captures.hpp"
#include "interpose/serve/route.hpp"
#include "interpose/serve/synchronisation.hpp"

namespace vramscope::hooks {

struct AllocatesDevice : Action {
    CUdeviceptr* out;
    std::uint64_t bytes;
    ContextPool* here = nullptr; // who answered; null: the driver
    bool pooled = false;
    std::uint64_t slack = 0;
    AllocatesDevice(CUdeviceptr* out_, std::uint64_t bytes_) : out(out_), bytes(bytes_) {}

    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        if (pooling() && out && bytes)
            here = pool_here(call);
        if (!here)
            return within_limit(bytes) ? ask() : CUDA_ERROR_OUT_OF_MEMORY;
        const Served block = allocate(call, *here, bytes);
        if (block.result != CUDA_SUCCESS) [[unlikely]]
            return block.result;
        *out = block.address;
        pooled = block.pooled;
        slack = block.slack;
        return CUDA_SUCCESS;
    }
    void succeeded(Call& call)
    {
        if (!here)
            took_from_driver(call, *out, bytes);
        else if (pooled)
            record_pooled(call, *out, bytes, here->place(), slack);
        else
            record_allocation(call, *out, bytes, here->place());
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, bytes); }
};

// `pointer` is the program's argument itself: a free of what is free already shows the driver an
// address that nobody has.
template <class Pointer>
struct FreesDevice : Frees {
    Pointer& pointer;
    explicit FreesDevice(Pointer& pointer_) : Frees(pointer_), pointer(pointer_) {}

    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        if (!begun || !pooling())
            return ask();
        call.began = 0; // what the pool does first is not this call's
        Leaving leaving;
        const FreeRoute route = route_free(call, event.address, leaving);
        return route == FreeRoute::kept ? CUDA_SUCCESS : follow(call, route, leaving, ask);
    }

protected:
    template <class Ask>
    [[gnu::noinline]] CUresult follow(Call& call, FreeRoute route, Leaving& leaving, const Ask& ask)
    {
        switch (route) {
        case FreeRoute::kept:
            return CUDA_SUCCESS;
        case FreeRoute::dead:
            return show_dead_address(ask);
        case FreeRoute::asked: {
            const CUresult result = show_dead_address(ask);
            if (result != CUDA_ERROR_INVALID_VALUE)
                return result;
            return follow(call, keep_part(event.address, leaving), leaving, ask);
        }
        case FreeRoute::leaves:
            return let_go(call, leaving, ask());
        case FreeRoute::refused: // is none that callers are given
        case FreeRoute::driver:
            break;
        }
        return ask();
    }

private:
    template <class Ask>
    CUresult show_dead_address(const Ask& ask)
    {
        const Pointer shown = pointer;
        pointer = static_cast<Pointer>(dead_address());
        const CUresult result = ask();
        pointer = shown;
        return result;
    }
};

struct FreesDeviceAsync : FreesDevice<CUdeviceptr> {
    CUstream stream;
    bool captured = false; // then it makes a node of a graph, and frees nothing now
    FreesDeviceAsync(CUdeviceptr& pointer_, CUstream stream_)
        : FreesDevice(pointer_), stream(stream_)
    {
    }
    void before(Call& call)
    {
        Frees::before(call);
        if (begun) // a null pointer is not recorded: the thread may have no place to record in
            captured = place_of_stream(call, stream, nullptr).capturing;
    }
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        if (!begun || !pooling())
            return ask();
        call.began = 0;
        Leaving leaving;
        const FreeRoute route = route_free_async(event.address, captured, leaving);
        return follow(call, route, leaving, ask);
    }
    void succeeded(Call& call)
    {
        if (!captured)
            FreesDevice::succeeded(call);
        else if (begun)
            log::abandon_free(call.thread);
    }
};

// Not timed: the wait is the program's own, for its work and not for memory.
struct Synchronises : Action {
    static constexpr bool kTimed = false;
    CUcontext context = nullptr; // null: the current one
    Synchronisation began{};
    Synchronises() = default;
    explicit Synchronises(CUcontext context_) : context(context_) {}
    void before(Call&)
    {
        if (!pooling() || exiting())
            return;
        const Driver* driver = Driver::find();
        if (!context && driver && driver->context)
            driver->context(&context);
        began = synchronisation_begins(context);
    }
    void succeeded(Call& call)
    {
        if (began.epoch)
            synchronisation_ended(call.thread, began);
    }
};

struct BeginsCapture : Action {
    static constexpr bool kTimed = false;
    CUstream stream;
    explicit BeginsCapture(CUstream stream_) : stream(stream_) {}
    template <class Ask>
    CUresult answer(Call&, Ask ask)
    {
        const Driver* driver = pooling() ? Driver::find() : nullptr;
        if (!driver)
            return ask();
        capture_begins();
        const CUresult result = ask();
        if (result == CUDA_SUCCESS)
            capture_began(*driver, stream);
        else
            capture_refused();
        return result;
    }
};

// What may end the capture of a stream, even by failing.
struct EndsCapture : Action {
    static constexpr bool kTimed = false;
    CUstream stream;
    explicit EndsCapture(CUstream stream_) : stream(stream_) {}
    template <class Ask>
    CUresult answer(Call&, Ask ask)
    {
        const CUresult result = ask();
        if (const Driver* driver = capturing() ? Driver::find() : nullptr)
            capture_may_have_ended(*driver, stream);
        return result;
    }
};

struct DestroysStream : Action {
    static constexpr bool kTimed = false;
    CUstream stream;
    explicit DestroysStream(CUstream stream_) : stream(stream_) {}
    template <class Ask>
    CUresult answer(Call&, Ask ask)
    {
        const CUresult result = ask();
        if (result == CUDA_SUCCESS && capturing())
            capture_ended_with(stream);
        return result;
    }
};

struct MakesExecutable : Action {
    CUgraphExec* out;
    explicit MakesExecutable(CUgraphExec* out_) : out(out_) {}
    template <class Ask>
    CUresult answer(Call&, Ask ask)
    {
        const CUresult result = ask();
        if (result == CUDA_SUCCESS && pooling())
            executable_made();
        return result;
    }
    void succeeded(Call& call) { record_allocation(call, number(*out), 0, place_now(call)); }
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

struct EndsExecutable : Frees {
    explicit EndsExecutable(CUgraphExec executable) : Frees(executable) {}
    template <class Ask>
    CUresult answer(Call&, Ask ask)
    {
        const CUresult result = ask();
        if (result == CUDA_SUCCESS && pooling())
            executable_gone();
        return result;
    }
};

// An executable graph gets other addresses than it was made with.
struct ChangesExecutable : Action {
    static constexpr bool kTimed = false;
    void succeeded(Call&)
    {
        if (pooling())
            graph_may_hold_memory();
    }
};

// Takes device memory and keeps it to itself: code, and what it needs to run.
struct TakesMemory : Action {
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

} // namespace vramscope::hooks
