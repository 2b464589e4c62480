// tools/simgpu/runtime/call.hpp — what every cuda* function does around its driver calls.
//
// enter() opens the driver, makes the device's primary context current, translates the result and
// remembers a failure for cudaGetLastError. There are no tail calls, as an interposer must find the
// cuda* function on the stack.
#pragma once

#include <bit>
#include <type_traits>

#include "tools/simgpu/runtime/driver.hpp"

#define SIMGPU_RUNTIME extern "C" [[gnu::visibility("default")]]

#define SIMGPU_FLAVOUR(name, flavour, parameters, ...)                                             \
    SIMGPU_RUNTIME cudaError_t name parameters;                                                    \
    SIMGPU_RUNTIME cudaError_t name parameters                                                     \
    {                                                                                              \
        return simgpu::runtime::enter([&](const simgpu::runtime::Driver& driver) -> CUresult {     \
            [[maybe_unused]] const simgpu::runtime::StreamCalls& calls = driver.flavour;           \
            __VA_ARGS__                                                                            \
        });                                                                                        \
    }
#define SIMGPU_JOINED(name, suffix) name##suffix

// A function with a default stream, exported for the legacy stream and, with the suffix, for the
// thread's own. `calls` are the driver's functions with the same default stream.
#define SIMGPU_STREAM_FUNCTION(name, suffix, parameters, ...)                                      \
    SIMGPU_FLAVOUR(name, legacy, parameters, __VA_ARGS__)                                          \
    SIMGPU_FLAVOUR(SIMGPU_JOINED(name, suffix), per_thread, parameters, __VA_ARGS__)

namespace simgpu::runtime {

cudaError_t error_of(CUresult result);
CUresult result_of(cudaError_t error);
// Keeps a failure for cudaGetLastError, and returns it.
cudaError_t remember(cudaError_t error);

const Driver* open_or_remember(cudaError_t& error);
CUresult ensure_context(const Driver& driver);
// A device's primary context, which is retained once and until the process ends.
CUresult primary_context(const Driver& driver, int ordinal, CUcontext& context);
// The device that the calling thread has chosen.
int& chosen_device();

// For calls about devices and versions, which make no context.
template <class Body>
cudaError_t enter_without_context(Body body)
{
    cudaError_t error = cudaSuccess;
    const Driver* const driver = open_or_remember(error);
    if (!driver)
        return error;
    return remember(error_of(body(*driver)));
}

template <class Body>
cudaError_t enter(Body body)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        const CUresult result = ensure_context(driver);
        return result == CUDA_SUCCESS ? body(driver) : result;
    });
}

// An argument in the driver's type. The two APIs have names of their own for the same handles,
// enumerators and structures.
template <class To, class From>
To driver_form(From given)
{
    if constexpr (std::is_class_v<To>) {
        return std::bit_cast<To>(given);
    } else {
        if constexpr (requires(To to, From from) { sizeof *to, sizeof *from; })
            static_assert(sizeof *To{} == sizeof *From{});
        return (To)given; // between pointers, numbers and enumerators, whichever it is
    }
}

template <class... Parameters, class... Arguments>
CUresult pass(CUresult (*function)(Parameters...), Arguments... arguments)
{
    return function(driver_form<Parameters>(arguments)...);
}

// For functions that are one call of the driver, with the same arguments.
template <class... Parameters, class... Arguments>
cudaError_t call(CUresult (*Driver::*function)(Parameters...), Arguments... arguments)
{
    return enter([&](const Driver& driver) { return pass(driver.*function, arguments...); });
}

template <class... Parameters, class... Arguments>
cudaError_t call_without_context(CUresult (*Driver::*function)(Parameters...),
                                 Arguments... arguments)
{
    return enter_without_context(
        [&](const Driver& driver) { return pass(driver.*function, arguments...); });
}

inline CUdeviceptr address_of(const void* pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace simgpu::runtime
