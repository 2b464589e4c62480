// interpose/actions/action.hpp — what an action may have, and what happens where it has it not.
//
// An action says what a row of the hook table does around the driver's call: a plain struct, made
// of the row's arguments. All of its members run with the thread marked as inside. It may have:
//
//   needs_nothing(thread) whether there is nothing to be done around a call that succeeds; of a
//                         failure only failed() hears then
//   before(call)          for what must be known while the memory is still the program's
//   answer(call, ask)     the answer to the program; `ask` makes the program's call, with its
//                         arguments as they are then. Without it the driver answers.
//   bytes_wanted()        how much device memory the call asks for, at least: refused where
//                         VRAMSCOPE_LIMIT says so, and recorded if memory was short
//   has_given_back()      whether the answer was tried with all given back that was cached
//   succeeded(call)       what the log is told of a success; there is a log then
//   kNullWhenRefused      where the program finds a null pointer, when it is refused for want of
//                         memory: as by the driver (tests/gpu/RESULTS.md, "outputs")
//   failed(call, result)  of a failure, if that says something
//   kTimed                false of questions, which are asked in a loop, and of calls that only say
//                         what the pool may do: how long they take is not told
#pragma once

#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/pooling.hpp"
#include "interpose/serve/pools/shortage.hpp"

namespace vramscope::hooks {

// Members are looked for by name: one of another form than above does not compile.
template <class Action>
consteval bool is_timed()
{
    if constexpr (requires { &Action::kTimed; })
        return Action::kTimed;
    return true;
}

template <class Action>
[[gnu::always_inline]] inline void before(Action& action, Call& call)
{
    if constexpr (requires { &Action::before; })
        action.before(call);
}

// As the driver refuses what no memory is left for, or what a capture forbids.
template <class Action>
[[gnu::noinline, gnu::cold]] CUresult refuse(Action& action)
{
    if constexpr (requires { Action::kCapturesForbid; })
        if (const CUresult result = answer_of_captures(); result != CUDA_SUCCESS)
            return result;
    if constexpr (requires { Action::kNullWhenRefused; })
        if (action.out)
            *action.out = {};
    return CUDA_ERROR_OUT_OF_MEMORY;
}

template <class Action, class Ask>
[[gnu::always_inline]] inline CUresult answer(Action& action, Call& call, const Ask& ask)
{
    if constexpr (requires { &Action::template answer<Ask>; })
        return action.answer(call, ask);
    else if constexpr (requires { &Action::bytes_wanted; })
        return fits(call, action.bytes_wanted()) ? ask() : refuse(action);
    else
        return ask();
}

// Whether to try once more what was refused for want of memory.
template <class Action>
bool may_succeed_now(const Action& action, Call& call, int tries)
{
    if constexpr (requires { &Action::has_given_back; })
        if (action.has_given_back())
            return false;
    return make_room_for(call, tries);
}

template <class Action>
[[gnu::always_inline]] inline void succeeded(Action& action, Call& call)
{
    if constexpr (
        requires { &Action::bytes_wanted; } && !requires { &Action::has_given_back; })
        if (pooling())
            direct_allocations.fetch_add(1, std::memory_order_relaxed);
    if constexpr (requires { &Action::succeeded; })
        action.succeeded(call);
}

template <class Action>
void failed(Action& action, Call& call, CUresult result)
{
    if constexpr (requires { &Action::failed; })
        action.failed(call, result);
    else if constexpr (requires { &Action::bytes_wanted; })
        record_shortage(call, result, action.bytes_wanted());
}

} // namespace vramscope::hooks
