// tools/process/installation.hpp — where the parts of vramscope are, seen from its executable.
#pragma once

#include <filesystem>

namespace vramscope {

struct Installation {
    std::filesystem::path executable;
    std::filesystem::path preload; // libvramscope.so; empty: not found
    std::filesystem::path audit;   // libvramscope-audit.so; empty: not found
    std::filesystem::path ending;  // libvramscope-ending.so; empty: not found
    std::filesystem::path simgpu;  // folder of the simulated libcuda.so.1; empty: not found
    std::filesystem::path python;  // folder with the Python module `vramscope` in it; the same
};

Installation find_installation();

// The preloaded library, or an Error that says where it was looked for.
std::filesystem::path required_preload(const Installation& installation);

} // namespace vramscope
