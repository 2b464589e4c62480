// interpose/actions/streams.hpp — actions of synchronisations, and of captures of streams.
//
// They tell the pool when memory may be used again, and when the pool must not call the driver.
#pragma once

#include "interpose/actions/objects.hpp"
#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/pooling.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"

namespace vramscope::hooks {

// These are not timed: the program waits for its own work, not for memory.
struct Synchronises {
    static constexpr bool kTimed = false;
    CUcontext context = nullptr; // null: the current one
    Synchronisation began{};
    // Programs synchronise by the million, mostly with nothing freed before.
    static bool needs_nothing(const log::Thread&) { return !epochs().any_pending(); }
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

struct BeginsCapture {
    static constexpr bool kTimed = false;
    CUstream stream;
    template <class Ask>
    CUresult answer(Call&, const Ask& ask)
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

struct BeginsCaptureToGraph : BeginsCapture {
    CUgraph added_to;
    BeginsCaptureToGraph(CUstream captured, CUgraph graph)
        : BeginsCapture{captured}, added_to(graph)
    {
    }
    void succeeded(Call&) { capture_adds_to(added_to); }
};

// What may end the capture of a stream, even by failing.
struct EndsCapture {
    static constexpr bool kTimed = false;
    CUstream stream;
    CUgraph* out;
    template <class Ask>
    CUresult answer(Call&, const Ask& ask)
    {
        const CUresult result = ask();
        if (const Driver* driver = capturing() ? Driver::find() : nullptr)
            capture_may_have_ended(*driver, stream);
        return result;
    }
    void succeeded(Call& call)
    {
        if (out && *out && !was_added_to(*out))
            record_object(call, number(*out));
    }
};

struct DestroysStream : EndsObject<CUstream> {
    explicit DestroysStream(CUstream destroyed) : EndsObject{destroyed} {}
    void succeeded(Call& call)
    {
        if (capturing())
            capture_ended_with(handle);
        EndsObject::succeeded(call);
    }
};

} // namespace vramscope::hooks
