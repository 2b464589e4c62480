// report/model/framework.hpp — a framework of the program that has an allocator of its own.
#pragma once

#include <cstdint>
#include <string>

#include "report/model/fields.hpp"

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
template <>
struct Fields<FrameworkUse> {
    static constexpr const char* kName = "framework";
    static constexpr FieldList kAll{
        Field{"name", &FrameworkUse::name},
        Field{"library", OrNull{&FrameworkUse::library}, "That showed it; null: none did."},
        Field{"bypassed", &FrameworkUse::bypassed,
              "Its allocator is off: each of its buffers is an allocation."},
        Field{"bypassed_by", OrNull{&FrameworkUse::bypassed_by},
              "The variable that was set; null: none, as where the program called "
              "vramscope_note_bypassed."},
        Field{"told_of_blocks", &FrameworkUse::told_of_blocks,
              "How often its allocator told of a block that it handed out, or could not: PyTorch, "
              "and heaps of NVTX, by their names."},
        Field{"told_of_returns", &FrameworkUse::told_of_returns, "And of one that it took back."},
    };
};

} // namespace vramscope::report
