// interpose/hooks/inside_driver.hpp — a driver call of our own.
//
// What the driver calls meanwhile is its own, as in the program's calls.
#pragma once

#include "interpose/hooks/hook.hpp"

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

// A call that stands for the program's own: its time is reported under the entry point's name.
template <class Ask>
auto timed_in_driver(log::Thread& thread, Hook hook, Ask ask)
{
    const std::uint64_t began = log::now();
    const auto result = in_driver(thread, ask);
    log::add_driver_time(thread, static_cast<std::uint64_t>(hook), began, log::now());
    return result;
}

} // namespace vramscope::hooks
