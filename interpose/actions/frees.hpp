// interpose/actions/frees.hpp — what ends memory.
//
// Their time is taken before the driver's call: another thread may get the address as soon as
// it is free.
#pragma once

#include <utility>

#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/events.hpp"
#include "interpose/serve/route.hpp"

namespace vramscope::hooks {

// A free in the log: begun before the driver's call, and then done or refused.
struct FreeRecord {
    format::Free event{};
    bool begun = false; // false: a null pointer, or there is no log
    void begin(Call& call, std::uint64_t address)
    {
        if (address && call.ready())
            begin(call.thread, call.hook, call.site, address);
    }
    void begin(log::Thread& thread, Hook hook, const log::CallSite& site, std::uint64_t address)
    {
        begun = true;
        event.address = address;
        event.api = static_cast<std::uint64_t>(hook);
        log::begin_free(thread, event, site);
    }
    void succeeded(Call& call)
    {
        if (begun)
            log::record_free(call.thread, event);
        if (call.to_settle) [[unlikely]]
            settle(*call.to_settle);
    }
    void failed(Call& call, CUresult result)
    {
        if (!begun || !call.ready())
            return;
        record_bad_free(call, result, event.address);
        log::abandon_free(call.thread);
    }
};

template <class Handle>
struct Frees {
    Handle handle;
    FreeRecord record{};
    void before(Call& call) { record.begin(call, number(handle)); }
    void succeeded(Call& call) { record.succeeded(call); }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
};

// Asks with another address in place of the program's argument, which is restored afterwards. `ask`
// is copied, so that where the driver is asked directly the compiler knows all that it does.
template <class Pointer, class Ask>
auto ask_with_address(Pointer& pointer, const Ask& ask)
{
    return [&pointer, ask](std::uint64_t address) {
        const Pointer own = std::exchange(pointer, static_cast<Pointer>(address));
        const CUresult result = ask();
        pointer = own;
        return result;
    };
}

template <class Pointer>
struct FreesDevice {
    Pointer& pointer; // the program's argument itself
    FreeRecord record{};
    bool is_plain(const log::Thread& thread) const
    {
        return !pool_wanted() && number(pointer) && log::is_ready(thread);
    }
    void begin(log::Thread& thread, Hook hook)
    {
        record.begin(thread, hook, thread.site, number(pointer));
    }
    void end(log::Thread& thread) { log::record_free(thread, record.event); }
    void before(Call& call) { record.begin(call, number(pointer)); }
    template <class Ask>
    [[gnu::always_inline]] CUresult answer(Call& call, const Ask& ask)
    {
        if (!record.begun || !pool_wanted())
            return ask();
        return free_block(call, number(pointer), ask_with_address(pointer, ask));
    }
    void succeeded(Call& call) { record.succeeded(call); }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
};

struct FreesDeviceAsync {
    CUdeviceptr& pointer;
    CUstream stream;
    FreeRecord record{};
    bool captured = false; // true: it makes a node of a graph, and frees nothing now
    void before(Call& call)
    {
        record.begin(call, pointer);
        if (record.begun) // a null pointer is not recorded: there may be no place to record in
            captured = place_of_stream(call, stream, nullptr).capturing;
    }
    template <class Ask>
    CUresult answer(Call& call, const Ask& ask)
    {
        if (!record.begun || !pooling())
            return ask();
        return free_past_pool(call, pointer, captured, ask_with_address(pointer, ask));
    }
    void succeeded(Call& call)
    {
        if (!captured)
            record.succeeded(call);
        else if (record.begun)
            log::abandon_free(call.thread);
    }
    void failed(Call& call, CUresult result) { record.failed(call, result); }
};

} // namespace vramscope::hooks
