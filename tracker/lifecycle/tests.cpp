// tracker/lifecycle/tests.cpp — written where the process has a log, else remembered.
#include "tracker/lifecycle/tests.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unistd.h>

#include "tracker/capture/lock.hpp"
#include "tracker/lifecycle/lifecycle.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/nesting.hpp"

namespace vramscope::log {
namespace {

// The test that runs while there is no log.
struct Remembered {
    pid_t process = 0; // in the child of a fork it is the parent's test; 0: there is none
    std::size_t bytes = 0;
    char name[format::kMostTextBytes] = {};
};
constinit Remembered remembered;
constinit capture::Lock remembered_lock;

// False: there is a log, and nothing needs to be remembered any more.
bool remember(std::string_view name, format::TestState state) noexcept
{
    const std::lock_guard guard(remembered_lock);
    remembered.process = 0;
    if (process->generation)
        return false;
    if (state == format::TestState::began) {
        remembered.bytes = std::min(name.size(), sizeof remembered.name);
        std::memcpy(remembered.name, name.data(), remembered.bytes);
        remembered.process = ::getpid();
    }
    return true;
}

} // namespace

void tell_of_test(std::string_view name, format::TestState state) noexcept
{
    Thread& thread = this_thread;
    if (!is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    thread.inside = Inside::recorder;
    if (!remember(name, state) && (is_ready(thread) || join(thread)))
        write(thread, {now()}, format::Test{state, name});
    thread.inside = Inside::program;
}

void write_remembered_test(Thread& thread) noexcept
{
    const std::lock_guard guard(remembered_lock);
    if (remembered.process == ::getpid())
        write(thread, {now()},
              format::Test{format::TestState::began, {remembered.name, remembered.bytes}});
    remembered.process = 0;
}

} // namespace vramscope::log
