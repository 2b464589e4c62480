// tools/process/diagnosis.cpp — the reasons, most telling first.
#include "tools/process/diagnosis.hpp"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace vramscope {
namespace {

// Each CUDA has a libcudart of its own, which its programs ask for by this name.
struct Runtime {
    std::string_view cuda;
    std::string_view library;
};
constexpr Runtime kRuntimes[] = {
    {"11", "libcudart.so.11.0"},
    {"12", "libcudart.so.12"},
    {"13", "libcudart.so.13"},
};

std::vector<std::string> missing_runtimes(const ProgramFile& program,
                                          const Installation& installation)
{
    std::vector<std::string> lines;
    for (const std::string& library : program.needed)
        if (library.starts_with("libcudart.so") &&
            !std::filesystem::exists(installation.simgpu / library))
            lines.push_back(
                fmt::format("{} needs {}, and the simulated GPU has a runtime of CUDA {} alone: "
                            "build the program with that, or use a vramscope with this one",
                            program.path.string(), library,
                            fmt::join(simulated_runtimes(installation).there, " or ")));
    return lines;
}

} // namespace

SimulatedRuntimes simulated_runtimes(const Installation& installation)
{
    SimulatedRuntimes runtimes;
    for (const auto& [cuda, library] : kRuntimes)
        (std::filesystem::exists(installation.simgpu / library) ? runtimes.there : runtimes.missing)
            .emplace_back(cuda);
    return runtimes;
}

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
    const std::vector<std::string> missing = missing_runtimes(program, installation);
    lines.insert(lines.end(), missing.begin(), missing.end());
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
        if (lines.empty() && !simulate.empty())
            lines = missing_runtimes(program, installation);
        if (lines.empty())
            lines.push_back("libvramscope.so was not loaded into it: the loader's own message, if "
                            "any, is above");
        return lines;
    }
    lines.push_back("no allocation of GPU memory through CUDA was seen; one by a program that runs "
                    "without LD_PRELOAD would not be");
    const std::vector<std::string> more = gpu_obstacles(program, simulate, installation, driver);
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
}

} // namespace vramscope
