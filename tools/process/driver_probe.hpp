// tools/process/driver_probe.hpp — asks the CUDA driver what it is, safe from its crashes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vramscope {

struct DriverFacts {
    std::string path;          // where libcuda.so.1 is; empty: not found
    std::string problem;       // why it cannot be used; empty: it can
    std::string kernel_module; // version from /proc/driver/nvidia; empty: not loaded
    int cuda_version = 0;      // 13000 is CUDA 13.0
    bool simulated = false;
    std::vector<std::string> devices; // "NVIDIA H200, 139.7 GiB"
};

enum class Ask {
    where, // only whether the loader finds it, loading nothing: `path` is then its name
    all,   // starts the driver, which may take a second
};

// `library` is libcuda.so.1 for the loader to find, or the path of one. `simulate`: the spec
// it shall simulate.
DriverFacts probe_driver(const std::filesystem::path& library, Ask ask,
                         const std::string& simulate = {});

// Newest CUDA version whose entry points the hook table was checked against (interpose/hooks).
int newest_known_cuda_version();

} // namespace vramscope
