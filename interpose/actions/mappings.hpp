// interpose/actions/mappings.hpp — physical memory: its references, and where it is mapped.
#pragma once

#include "interpose/serve/events.hpp"

namespace vramscope::hooks {

struct RetainsPhysical {
    CUmemGenericAllocationHandle* out;
    void succeeded(Call& call)
    {
        log::write(call.thread, {log::now(), call.api()}, format::Retain{*out});
    }
};

struct Maps {
    CUdeviceptr address;
    std::uint64_t bytes;
    CUmemGenericAllocationHandle handle;
    void succeeded(Call& call)
    {
        log::write_with_stack(call.thread, call.site, call.api(),
                              format::Map{address, bytes, handle});
    }
};

struct Unmaps {
    CUdeviceptr address;
    std::uint64_t bytes;
    void before(Call& call) { call.take_ticks(); }
    void succeeded(Call& call)
    {
        log::write(call.thread, {call.ticks, call.api()}, format::Unmap{address, bytes});
    }
    void failed(Call& call, CUresult result) { record_bad_free(call, result, address); }
};

// Parts of sparse arrays, each under a number made of the array and the place in it.
struct MapsTiles {
    const CUarrayMapInfo* list;
    unsigned count;
    void before(Call& call) { call.take_ticks(); }
    void succeeded(Call& call);
};

} // namespace vramscope::hooks
