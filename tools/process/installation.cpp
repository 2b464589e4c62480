// tools/process/installation.cpp — look beside the executable, then in its lib folders.
#include "tools/process/installation.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/stat.h>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

using Folders = std::array<std::string, 4>;

// The first that is there of these names in these folders, or an empty path. Parts that were
// installed together lie together: the folder where one was found is the first to be searched next.
fs::path find_part(Folders& folders, std::initializer_list<std::string_view> names)
{
    struct stat status;
    for (auto folder = folders.begin(); folder != folders.end(); ++folder)
        for (const std::string_view name : names) {
            const std::string path = *folder + '/' + std::string(name);
            if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
                continue;
            std::rotate(folders.begin(), folder, folder + 1);
            return path;
        }
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
    const fs::path here = found.executable.parent_path();
    const std::string lib = here.parent_path() / "lib";
    Folders folders = {here, here / "lib", lib, lib + "/vramscope"};
    found.preload = find_part(folders, {"libvramscope.so"});
    found.audit = find_part(folders, {"libvramscope-audit.so"});
    found.ending = find_part(folders, {"libvramscope-ending.so"});
    found.simgpu =
        find_part(folders, {"vramscope/simgpu/libcuda.so.1", "simgpu/libcuda.so.1"}).parent_path();
    found.python = find_part(folders, {"vramscope/python/vramscope/__init__.py",
                                       "python/vramscope/__init__.py"})
                       .parent_path()
                       .parent_path();
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
