// interpose/hooks/inside_driver.hpp — a driver call of our own: what the driver calls meanwhile is
// its own, as in the program's calls.
#pragma once

#include "tracker/log/thread.hpp"

namespace vramscope::hooks {

template <class Ask>
auto in_driver(log::Thread& thread, Ask ask)
{
    const log::Inside outer = thread.inside;
    thread.inside = log::Inside::driver;
    const auto result = ask();
    thread.inside = outer;
    return result;
}

} // namespace vramscope::hooks
