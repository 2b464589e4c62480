// report/symbols/file_places.hpp — where the files of the traced program lie on this machine.
//
// A log that was recorded in a container names files below the container's root.
#pragma once

#include <filesystem>
#include <vector>

namespace vramscope::report {

// What lay at `from`, a file or a folder, lies at `to` here.
struct PathMap {
    std::filesystem::path from; // as the traced program saw it
    std::filesystem::path to;
};

class FilePlaces {
public:
    FilePlaces() = default;
    // An empty sysroot is none. Of several maps the one with the longest `from` counts; what it
    // says is a path of this machine. All other paths are below the sysroot.
    FilePlaces(const std::filesystem::path& sysroot, std::vector<PathMap> maps);

    // The path here of what the traced program saw at `path`, be there a file or not.
    std::filesystem::path of(const std::filesystem::path& path) const;

    // The same file as `here`. Below the sysroot, links lead where they did for the traced program:
    // never out of it. Empty: links without an end.
    std::filesystem::path confined(const std::filesystem::path& here) const;

    // Whether `file` may be completed by `other`, which libdw opens by the name that `file` has for
    // it: what lies below the sysroot, by nothing outside.
    bool may_refer(const std::filesystem::path& file, const std::filesystem::path& other) const;

private:
    std::filesystem::path sysroot_;
    std::vector<PathMap> maps_; // the longest `from` first
};

} // namespace vramscope::report
