// tracker/log/nesting.cpp — told by what is on the stack.
#include "tracker/log/nesting.hpp"

#include <algorithm>
#include <cstring>

#include "tracker/capture/unwinder.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::log {
namespace {

bool holds(const capture::StackBounds& stack, std::uintptr_t frame) noexcept
{
    return frame > stack.low + sizeof frame && frame <= stack.high;
}

__attribute__((no_sanitize("address", "thread"))) std::uintptr_t
word_at(std::uintptr_t address) noexcept
{
    std::uintptr_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return word;
}

// What is certain without unwinding: a stack grows down, and the return address of a live call
// stays where it is. Nothing is known of other stacks, as those of handlers and fibers.
bool is_gone(const Thread& thread, std::uintptr_t frame) noexcept
{
    if (!holds(thread.stack, frame) || !holds(thread.stack, thread.site.frame))
        return false;
    return frame >= thread.site.frame ||
           word_at(thread.site.frame - sizeof frame) != thread.site.return_address;
}

// The call that the thread was in will never end: what it did is not known.
void abandon(Thread& thread) noexcept
{
    count_lost(format::Lost::signal);
    if (is_ready(thread)) {
        if (thread.chunk)
            abandon_free(thread);
        if (thread.inside == Inside::recorder) { // it may be in the middle of anything
            thread.end = thread.at;              // deltas are the log's only in a new chunk
            if (thread.stacks)
                thread.stacks->forget();
        }
    }
    thread.inside = Inside::program;
}

// The kernel's way back from a handler: mov $15, %rax; syscall.
bool is_signal_return(std::uintptr_t address) noexcept
{
    constexpr unsigned char kCode[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    return std::memcmp(reinterpret_cast<const void*>(address), kCode, sizeof kCode) == 0;
}

enum class Between { nothing, handler, call_is_gone, unknown };

Between what_is_between(const CallSite& site, const CallSite& outer) noexcept
{
    std::uintptr_t frames[capture::kMaxFrames];
    bool truncated = false;
    const std::size_t count =
        capture::unwind(site.return_address, frames, capture::kMaxFrames, truncated);
    const std::uintptr_t* const end = frames + count;
    const std::uintptr_t* const found = std::find(frames + 0, frames + count, outer.return_address);
    if (count == 0 || (found == end && truncated))
        return Between::unknown;
    if (found == end)
        return Between::call_is_gone;
    return std::any_of(static_cast<const std::uintptr_t*>(frames), found, is_signal_return)
               ? Between::handler
               : Between::nothing;
}

} // namespace

[[gnu::noinline, gnu::cold]] bool enter_nested(Thread& thread, const CallSite& site,
                                               bool from_driver) noexcept
{
    // The thread's first call: it is in the driver, and not in the recorder, which would know.
    if (thread.stack.high == 0 && thread.inside == Inside::driver)
        thread.stack = capture::own_stack_bounds();
    if (is_gone(thread, site.frame)) {
        abandon(thread);
        return true;
    }
    if (thread.inside == Inside::driver && from_driver)
        return false;
    const Between between =
        thread.inside == Inside::recorder ? Between::unknown : what_is_between(site, thread.site);
    switch (between) {
    case Between::nothing:
        return false;
    case Between::handler:
        return true;
    case Between::call_is_gone:
        abandon(thread);
        return true;
    case Between::unknown:
        break;
    }
    count_lost(format::Lost::signal);
    return false;
}

bool is_in_program(Thread& thread, std::uintptr_t frame) noexcept
{
    if (thread.inside == Inside::program) [[likely]]
        return true;
    if (!is_gone(thread, frame))
        return false;
    abandon(thread);
    return true;
}

} // namespace vramscope::log
