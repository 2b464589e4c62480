// interpose/actions/objects.hpp — objects of the driver's: streams, events, graphs and code.
//
// What makes one is recorded as an allocation without bytes, with its call stack; what ends it as a
// free without one, since programs end them by the million. A context that ends takes its own
// along.
#pragma once

#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/graph_captures.hpp"
#include "interpose/serve/contexts/object_memory.hpp"
#include "interpose/serve/events.hpp"
#include "interpose/serve/pools/shortage.hpp"

namespace vramscope::hooks {

// No question about the device's memory follows: events are made by the million.
inline void record_object(Call& call, std::uint64_t handle)
{
    format::Alloc event = allocation(call, call.ended, handle, 0);
    log::record_object(call.thread, event, place_now(call), call.site);
}

// Events and graphs, which take no device memory.
template <class Handle>
struct MakesObject {
    static constexpr bool kTimed = false;
    Handle* out;
    void succeeded(Call& call) { record_object(call, number(*out)); }
};

// What the driver takes device memory for.
struct TakesMemory {
    ObjectMemory memory{};
    void before(Call&) { memory.before(); }
    void made(Call& call, std::uint64_t handle)
    {
        record_object(call, handle);
        memory.after(call, handle);
    }
    void failed(Call& call, CUresult result) { record_shortage(call, result, 0); }
};

// Streams, and code.
template <class Handle>
struct MakesLargeObject : TakesMemory {
    Handle* out;
    explicit MakesLargeObject(Handle* handle) : out(handle) {}
    void succeeded(Call& call) { made(call, number(*out)); }
};

// It has no handle: it is the current context's, by this number.
struct SetsLimit : TakesMemory {
    CUlimit limit;
    explicit SetsLimit(CUlimit number) : limit(number) {}
    void succeeded(Call& call)
    {
        constexpr unsigned kLimitBits = 8;
        made(call, (place_now(call).context + 1) << kLimitBits | static_cast<std::uint8_t>(limit));
    }
};

template <class Handle>
struct EndsObject {
    static constexpr bool kTimed = false;
    Handle handle;
    void before(Call& call) { call.take_ticks(); }
    void succeeded(Call& call)
    {
        if (!call.ticks || !handle)
            return;
        format::Free event{};
        event.api = call.api();
        event.ticks = call.ticks;
        event.address = number(handle);
        log::record_free(call.thread, event);
    }
};

struct EndsGraph : EndsObject<CUgraph> {
    explicit EndsGraph(CUgraph graph) : EndsObject{graph} {}
    void succeeded(Call& call)
    {
        (void)was_added_to(handle);
        EndsObject::succeeded(call);
    }
};

} // namespace vramscope::hooks
