// tools/process/installation.cpp — look beside the executable, then in its lib folders.
#include "tools/process/installation.hpp"

#include <array>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

std::array<fs::path, 4> library_folders(const fs::path& executable)
{
    const fs::path here = executable.parent_path();
    const fs::path prefix = here.parent_path();
    return {here, here / "lib", prefix / "lib", prefix / "lib" / "vramscope"};
}

fs::path find_file(const fs::path& executable, const char* name)
{
    std::error_code ignored;
    for (const fs::path& folder : library_folders(executable))
        if (fs::is_regular_file(folder / name, ignored))
            return folder / name;
    return {};
}

// The folder NAME of ours that has `file` in it.
fs::path find_folder(const fs::path& executable, const char* name, const char* file)
{
    std::error_code ignored;
    for (const fs::path& folder : library_folders(executable))
        for (const fs::path& found : {folder / name, folder / "vramscope" / name})
            if (fs::exists(found / file, ignored))
                return found;
    return {};
}

} // namespace

Installation find_installation()
{
    Installation found;
    std::error_code error;
    found.executable = fs::read_symlink("/proc/self/exe", error);
    if (error)
        throw report::Error(report::Exit::usage,
                            "/proc is not there, by which vramscope finds its own files: mount it");
    found.preload = find_file(found.executable, "libvramscope.so");
    found.audit = find_file(found.executable, "libvramscope-audit.so");
    found.simgpu = find_folder(found.executable, "simgpu", "libcuda.so.1");
    found.python = find_folder(found.executable, "python", "vramscope/__init__.py");
    return found;
}

fs::path required_preload(const Installation& installation)
{
    const fs::path& preload = installation.preload;
    if (preload.empty())
        throw report::Error(report::Exit::usage,
                            fmt::format("libvramscope.so is not beside {} nor in its lib folder: "
                                        "build or install all of vramscope",
                                        installation.executable.string()));
    if (preload.string().find_first_of(" :") != std::string::npos)
        throw report::Error(report::Exit::usage,
                            fmt::format("the folder of {} has a space or a colon in its name, "
                                        "which LD_PRELOAD cannot express: "
                                        "move vramscope elsewhere",
                                        preload.string()));
    return preload;
}

} // namespace vramscope
