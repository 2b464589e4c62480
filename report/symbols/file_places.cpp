// report/symbols/file_places.cpp — follows links as a process does whose root is the sysroot.
#include "report/symbols/file_places.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

namespace vramscope::report {

namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40; // as the kernel has it

// What is left of `path` below `folder`; nothing: it is not there. "/app" has no "/apple" in it.
std::optional<fs::path> rest_below(const fs::path& folder, const fs::path& path)
{
    const auto [left, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (left != folder.end())
        return std::nullopt;
    fs::path below;
    for (auto part = rest; part != path.end(); ++part)
        below /= *part;
    return below;
}

fs::path without_last_slash(const fs::path& path)
{
    return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

// `path` below `root`, without a link in it. A link that is absolute begins at the root again, and
// ".." leads no higher.
fs::path resolved_below(const fs::path& root, const fs::path& path)
{
    fs::path done;              // relative to the root
    std::vector<fs::path> left; // the next part last
    const auto put = [&left](const fs::path& parts) {
        for (auto part = parts.end(); part != parts.begin();)
            left.push_back(*--part);
    };
    put(path.relative_path());
    for (int links = 0; !left.empty();) {
        const fs::path part = std::move(left.back());
        left.pop_back();
        if (part == "..")
            done = done.parent_path();
        if (part == ".." || part == "." || part.empty())
            continue;
        std::error_code no_link;
        const fs::path target = fs::read_symlink(root / done / part, no_link);
        if (no_link) {
            done /= part;
            continue;
        }
        if (++links > kMostLinks)
            return {};
        if (target.is_absolute())
            done.clear();
        put(target.relative_path());
    }
    return root / done;
}

} // namespace

FilePlaces::FilePlaces(const fs::path& sysroot, std::vector<PathMap> maps)
    : sysroot_(without_last_slash(sysroot)), maps_(std::move(maps))
{
    for (PathMap& map : maps_)
        map.from = without_last_slash(map.from);
    std::stable_sort(maps_.begin(), maps_.end(), [](const PathMap& a, const PathMap& b) {
        return a.from.native().size() > b.from.native().size();
    });
}

fs::path FilePlaces::of(const fs::path& path) const
{
    for (const PathMap& map : maps_)
        if (const std::optional<fs::path> rest = rest_below(map.from, path))
            return confined(rest->empty() ? map.to : map.to / *rest);
    return sysroot_.empty() ? path : resolved_below(sysroot_, path);
}

fs::path FilePlaces::confined(const fs::path& here) const
{
    const auto rest = sysroot_.empty() ? std::nullopt : rest_below(sysroot_, here);
    return rest ? resolved_below(sysroot_, *rest) : here;
}

bool FilePlaces::may_refer(const fs::path& file, const fs::path& other) const
{
    if (sysroot_.empty() || !rest_below(sysroot_, file))
        return true;
    std::error_code no_root;
    std::error_code no_file;
    const fs::path root = fs::canonical(sysroot_, no_root);
    const fs::path there = fs::canonical(other, no_file);
    return !no_root && !no_file && rest_below(root, there);
}

} // namespace vramscope::report
