// tools/simgpu/driver/module/launch.hpp — kernels: names in loaded images, and their launches.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/simgpu/driver/stream/capture.hpp"
#include "tools/simgpu/simgpu.h"

namespace simgpu {

inline constexpr unsigned kMostThreads = 1024;
inline constexpr unsigned kMostSharedBytes = 232448;

struct Module;

// Nothing runs at a launch unless the kernel was given a host version. It is both CUfunction and
// CUkernel, as programs cast one to the other.
struct Kernel {
    std::atomic<bool> alive{false};
    std::string name;
    Module* module = nullptr;
    std::map<int, int> attributes;
};

// One launch with a copy of its arguments: the caller's may be gone when it runs.
struct KernelCall {
    std::string name;
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    unsigned shared_bytes = 0;
    std::vector<std::vector<unsigned char>> arguments;
    std::map<std::size_t, std::size_t> ranges; // from a pointer's index to that of its bytes
};

CUresult make_call(CUfunction function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                   unsigned shared_bytes, void** parameters, void** extra, KernelCall& call);
Work make_work(const KernelCall& call);

// A host version can write anywhere, so once there is one all memory is cleaned when it is freed.
bool host_kernels_exist();

} // namespace simgpu
