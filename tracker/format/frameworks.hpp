// tracker/format/frameworks.hpp — frameworks whose own allocators hide buffers from the driver.
//
// Both halves read this table: the traced process notes in the log what is set of these variables,
// `vramscope run --inside` sets them, and a report says of which framework it shows each buffer.
#pragma once

#include <string_view>

namespace vramscope::format {

// The name of the entry points by which the log has PyTorch's blocks.
inline constexpr const char* kPyTorch = "PyTorch";

struct Framework {
    const char* name;
    std::string_view library; // is in the path of what it loads to use a GPU
    const char* variable;     // in the environment, chooses its allocator; null: there is none
    // Values with which each buffer is an allocation of the driver, `|` between them. The first is
    // what --inside sets.
    const char* bypassed_by;
};

inline constexpr Framework kFrameworks[] = {
    {"JAX", "/xla_cuda_plugin.so", "XLA_PYTHON_CLIENT_ALLOCATOR", "platform|cuda_async"},
    {"TensorFlow", "/libtensorflow_framework.so", "TF_GPU_ALLOCATOR",
     "cuda_malloc_async|cuda_malloc"},
    // With "managed" cudf.pandas refuses to start where there is no managed memory.
    {"cuDF", "/libcudf.so", "CUDF_PANDAS_RMM_MODE", "cuda|async|managed"},
    {"CuPy", "/cupy/_core/core.", nullptr, nullptr}, // tools/python/vramscope/inside
};

// Whether `value` of its variable is among those with which it is bypassed.
constexpr bool is_bypassed(const Framework& framework, std::string_view value) noexcept
{
    std::string_view values = framework.bypassed_by ? framework.bypassed_by : "";
    while (!values.empty()) {
        const std::size_t bar = values.find('|');
        if (values.substr(0, bar) == value)
            return true;
        values = bar == values.npos ? "" : values.substr(bar + 1);
    }
    return false;
}

} // namespace vramscope::format
