// interpose/actions/allocations.cpp — allocations whose size or place the driver knows.
#include "interpose/actions/allocations.hpp"

#include <cstdio>

#include "tracker/environment/tell.hpp"

namespace vramscope::hooks {

void CreatesPhysical::succeeded(Call& call)
{
    record_allocation(call, *out, bytes,
                      place_on(call, prop ? device_of(prop->location) : kNoDevice));
}

void Imports::succeeded(Call& call)
{
    const Driver* driver = Driver::find();
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (!driver || !driver->address_range || exiting() ||
        driver->address_range(&base, &bytes, *out) != CUDA_SUCCESS)
        bytes = 0;
    record_allocation(call, *out, bytes, place_now(call));
}

void Initialises::failed(Call&, CUresult result)
{
    char text[64];
    std::snprintf(text, sizeof text, "cuInit failed with error %d", static_cast<int>(result));
    log::announce("note", text);
}

} // namespace vramscope::hooks
