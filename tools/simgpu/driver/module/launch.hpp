// tools/simgpu/driver/module/launch.hpp — kernels: names in loaded images; nothing runs unless a
// host version was given.
#pragma once

#include "tools/simgpu/driver/stream/capture.hpp"
#include "tools/simgpu/simgpu.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace simgpu {

inline constexpr unsigned kMostThreads = 1024;
inline constexpr unsigned kMostSharedBytes = 232448;

struct Module;

// CUfunction and CUkernel alike, as programs cast one to the other.
struct Kernel {
    std::atomic<bool> alive{false};
    std::string name;
    Module* module = nullptr;
    std::map<int, int> attributes;
};
Slots<Kernel>& kernels();

// One launch, its arguments copied: the caller's may be gone when it runs.
struct KernelCall {
    std::string name;
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    unsigned shared_bytes = 0;
    std::vector<std::vector<unsigned char>> arguments;
    std::map<std::size_t, std::size_t> ranges; // arguments: a pointer's, and that of its bytes
};

CUresult make_call(CUfunction function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                   unsigned shared_bytes, void** parameters, void** extra, KernelCall& call);
Work make_work(const KernelCall& call);

// A host version can write anywhere: memory is then cleaned when freed.
bool host_kernels_exist();

} // namespace simgpu
