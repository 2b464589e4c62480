// tools/simgpu/driver/enter.hpp — from an exported name to its body.
//
// The exported functions are generated (exports.cpp). Each of them calls enter(), which counts the
// call, answers armed faults, writes the trace and hands the calling thread's context to a body
// that asks for it. A name without a body answers CUDA_ERROR_NOT_SUPPORTED and says so once.
#pragma once

#include "tools/simgpu/driver/base/entry.hpp"
#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {

// A body has the parameters of its name in cuda.h. One that works in the current context takes the
// context before them. At most one of the two is written, and the linker leaves the other null.
template <class Function>
struct Body;

template <class... Parameters>
struct Body<CUresult(Parameters...)> {
    CUresult (*alone)(Parameters...);
    CUresult (*in_context)(Context&, Parameters...);

    bool exists() const { return alone || in_context; }
    CUresult run(Parameters... arguments) const
    {
        return alone ? alone(arguments...) : in_current_context(in_context, arguments...);
    }
};

template <class Body, class... Arguments>
CUresult run_as(Entry& entry, bool per_thread, const Body& body, Arguments... arguments)
{
    const bool outer = default_stream_is_per_thread;
    const char* const outer_entry = running_entry;
    default_stream_is_per_thread = per_thread;
    running_entry = entry.name;
    const CUresult result = body.run(arguments...);
    default_stream_is_per_thread = outer;
    running_entry = outer_entry;
    return result;
}

template <class Pointer, class... Others>
void null_answer(Pointer* answer, Others...)
{
    if (answer)
        *answer = {};
}

template <Form form, class Body, class... Arguments>
CUresult enter(const Body& body, Arguments... arguments)
{
    if constexpr (form.nulls_answer)
        null_answer(arguments...);
    Entry& entry = entries[form.row];
    entry.calls.fetch_add(1, std::memory_order_relaxed);
    const bool watch = watched.load(std::memory_order_relaxed);
    CUresult result = watch ? injected_fault(entry) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        if (form.needs_init && !initialised.load(std::memory_order_acquire)) [[unlikely]]
            result = CUDA_ERROR_NOT_INITIALIZED;
        else if (!body.exists()) [[unlikely]]
            result = not_simulated(entry);
        else
            result = run_as(entry, form.per_thread, body, arguments...);
    }
    if (watch) [[unlikely]]
        trace(entry, result);
    return result;
}

// For the first form of a name that has a second one. Without a body of its own it is answered by
// the second form's, if the arguments convert: if only the widths of numbers differ.
template <Form form, class Body, class Newer, class... Arguments>
CUresult enter_first_form(const Body& body, const Newer& newer, Arguments... arguments)
{
    if constexpr (requires { newer.run(arguments...); })
        if (!body.exists())
            return enter<form>(newer, arguments...);
    return enter<form>(body, arguments...);
}

} // namespace simgpu
