// tools/process/diagnosis.cpp — the reasons, most telling first.
#include "tools/process/diagnosis.hpp"

#include <fmt/format.h>

namespace vramscope {

std::vector<std::string> gpu_obstacles(const ProgramFile& program, const std::string& simulate,
                                       const Installation& installation, const DriverFacts& driver)
{
    std::vector<std::string> lines;
    if (simulate.empty()) {
        if (driver.path.empty())
            lines.push_back("there is no CUDA driver on this machine (libcuda.so.1)");
        else if (!driver.problem.empty())
            lines.push_back(
                fmt::format("the CUDA driver {} does not work: {}", driver.path, driver.problem));
        if (!lines.empty() && !installation.simgpu.empty())
            lines.push_back("try `vramscope run --simulate 24GiB`: it provides a simulated GPU");
        return lines;
    }
    if (has_own_runtime(program))
        lines.push_back(fmt::format(
            "{} carries NVIDIA's CUDA runtime inside (nvcc's default), which accepts no "
            "simulated GPU: build it with `nvcc -cudart shared` for --simulate",
            program.path.string()));
    for (const std::string& library : program.needed)
        if (library.starts_with("libcudart.so") &&
            !std::filesystem::exists(installation.simgpu / library))
            lines.push_back(fmt::format(
                "{} needs {}, and the simulated GPU was built for another version of CUDA",
                program.path.string(), library));
    return lines;
}

DriverFacts find_driver(const std::string& simulate, Ask ask)
{
    return simulate.empty() ? probe_driver("libcuda.so.1", ask) : DriverFacts();
}

std::vector<std::string> why_nothing_was_seen(const ProgramFile& program,
                                              const std::string& simulate,
                                              const Installation& installation,
                                              const DriverFacts& driver, bool loaded)
{
    std::vector<std::string> lines;
    if (!loaded) {
        lines = obstacles(program);
        if (lines.empty())
            lines.push_back("libvramscope.so was not loaded into it: the loader's own message, if "
                            "any, is above");
        return lines;
    }
    lines.push_back("it allocated no GPU memory through CUDA");
    const std::vector<std::string> more = gpu_obstacles(program, simulate, installation, driver);
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
}

} // namespace vramscope
