// report/model/framework.hpp — a framework of the program that has an allocator of its own.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope::report {

struct FrameworkUse {
    std::string name;    // "JAX"
    std::string library; // the path of the library that showed it; empty: none did
    bool bypassed = false;
    std::string bypassed_by; // the variable, "TF_GPU_ALLOCATOR=cuda_malloc"; empty: a call

    // How often its allocator told of a block that it handed out, or could not; and of one that it
    // took back. PyTorch's does, and heaps of NVTX, which go by their names.
    std::uint64_t told_of_blocks = 0;
    std::uint64_t told_of_returns = 0;
    bool told() const noexcept { return told_of_blocks + told_of_returns > 0; }
};

} // namespace vramscope::report
