// interpose/hooks/opening.cpp — what a log is told when it is opened.
#include <cstdio>

#include "interpose/hooks/bypassed.hpp"
#include "interpose/hooks/call.hpp"
#include "interpose/hooks/driver.hpp"
#include "interpose/hooks/unknown_names.hpp"

namespace vramscope::hooks {
namespace {

void describe_driver(log::Thread& thread)
{
    const Driver* driver = Driver::find();
    if (!driver)
        return;
    log::write(thread, format::Info{"recorded", "contexts objects"});
    log::write(thread, format::Info{"driver.path", driver->path()});
    log::write(thread, format::Info{"driver.simulated", driver->simulated() ? "1" : "0"});
    int version = 0;
    if (driver->driver_version && driver->driver_version(&version) == CUDA_SUCCESS) {
        char text[32];
        std::snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
        log::write(thread, format::Info{"driver.version", text});
    }
    write_unknown_names(thread);
    write_bypassed(thread);
}

} // namespace

const log::Opening kOpening{kApiCount, &api_at, &describe_driver};

} // namespace vramscope::hooks
