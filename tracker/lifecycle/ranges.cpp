// tracker/lifecycle/ranges.cpp — written where the thread has a chunk, else remembered or dropped.
#include "tracker/lifecycle/ranges.hpp"

#include "tracker/lifecycle/lifecycle.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/nesting.hpp"

namespace vramscope::log {

constinit std::atomic<void (*)() noexcept> before_mark{nullptr};

// A range or a mark of a thread that is inside a hook (a signal handler's) is not worth
// a torn record.
void push_range(std::string_view name) noexcept
{
    Thread& thread = this_thread;
    if (!is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    thread.inside = Inside::recorder;
    if (is_ready(thread) || (process->generation && join(thread))) {
        write(thread, {now()}, format::RangePush{name});
    } else {
        make_room_for_pending(thread);
        thread.pending.push(name);
    }
    thread.inside = Inside::program;
}

void pop_range() noexcept
{
    Thread& thread = this_thread;
    if (!is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    thread.inside = Inside::recorder;
    if (is_ready(thread))
        write(thread, {now()}, format::RangePop{});
    else
        thread.pending.pop();
    thread.inside = Inside::program;
}

void mark(std::string_view name) noexcept
{
    Thread& thread = this_thread;
    if (!process->generation ||
        !is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    if (const auto tell = before_mark.load(std::memory_order_acquire))
        tell();
    thread.inside = Inside::recorder;
    if (is_ready(thread) || join(thread))
        write(thread, {now()}, format::Mark{name});
    thread.inside = Inside::program;
}

} // namespace vramscope::log
