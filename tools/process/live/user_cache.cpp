// tools/process/live/user_cache.cpp — a file is written beside its name, and then has it.
#include "tools/process/live/user_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "tools/output/messages.hpp"
#include "tools/process/live/trusted_file.hpp"

namespace vramscope {
namespace fs = std::filesystem;
namespace {

bool is_own(const struct stat& status) noexcept
{
    return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

fs::path cache_of_user()
{
    const auto named = [](const char* variable) {
        const char* const value = std::getenv(variable);
        return fs::path(value ? value : "");
    };
    const fs::path cache = named("XDG_CACHE_HOME");
    if (cache.is_absolute())
        return cache;
    const fs::path home = named("HOME");
    return home.is_absolute() ? home / ".cache" : fs::path();
}

// No link to somewhere else.
bool is_own_folder(const fs::path& folder)
{
    struct stat status;
    return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && is_own(status);
}

bool write_all(int descriptor, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
        if (wrote <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

} // namespace

UserCache::UserCache(std::string_view folder, std::string_view ending, const Limits& limits)
    : ending_(ending), limits_(limits)
{
    const fs::path cache = cache_of_user();
    if (!cache.empty())
        folder_ = cache / "vramscope" / folder;
}

std::uint64_t UserCache::stamp_of_this_build()
{
    struct stat status;
    if (::stat("/proc/self/exe", &status) != 0)
        return 0;
    return static_cast<std::uint64_t>(status.st_size) ^
           static_cast<std::uint64_t>(status.st_mtim.tv_sec) << 32 ^
           static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

bool UserCache::is_usable() const
{
    return is_own_folder(folder_.parent_path()) && is_own_folder(folder_);
}

fs::path UserCache::path_of(const std::string& name) const
{
    return folder_ / (name + ending_);
}

std::string UserCache::find(const std::string& name) const
{
    if (!is_usable())
        return {};
    const fs::path path = path_of(name);
    std::string bytes = read_trusted(path, limits_.bytes, [this](const struct stat& status) {
        return is_own(status) && static_cast<std::uint64_t>(status.st_size) <= limits_.bytes;
    });
    if (!bytes.empty())
        detail(fmt::format("uses what {} has", path.string()));
    return bytes;
}

void UserCache::keep(const std::string& name, std::string_view bytes) const
{
    if (folder_.empty() || bytes.size() > limits_.bytes)
        return;
    const fs::path ours = folder_.parent_path();
    ::mkdir(ours.parent_path().c_str(), 0700);
    ::mkdir(ours.c_str(), 0700);
    if (is_own_folder(ours))
        ::mkdir(folder_.c_str(), 0700);
    if (!is_usable())
        return;
    const fs::path path = path_of(name);
    std::string written = (folder_ / "XXXXXX").string() + ending_;
    const int descriptor = // mode 0600
        ::mkostemps(written.data(), static_cast<int>(ending_.size()), O_CLOEXEC);
    if (descriptor < 0)
        return;
    const bool whole = write_all(descriptor, bytes);
    if (::close(descriptor) == 0 && whole && ::rename(written.c_str(), path.c_str()) == 0)
        detail(fmt::format("{} knows what was read: {} bytes", path.string(), bytes.size()));
    else
        ::unlink(written.c_str());
    remove_old();
}

void UserCache::remove_old() const
{
    std::vector<std::tuple<fs::file_time_type, std::uint64_t, fs::path>> files;
    std::error_code problem;
    for (fs::directory_iterator entry(folder_, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        std::error_code gone;
        const fs::path& path = entry->path();
        if (path.native().ends_with(ending_) && entry->is_regular_file(gone))
            files.emplace_back(entry->last_write_time(gone), entry->file_size(gone), path);
    }
    std::sort(files.rbegin(), files.rend()); // the newest comes first
    const auto oldest = fs::file_time_type::clock::now() - limits_.age;
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < files.size(); ++at) {
        const auto& [time, size, path] = files[at];
        bytes += size;
        if (at >= limits_.files || bytes > limits_.bytes || time < oldest)
            ::unlink(path.c_str());
    }
}

} // namespace vramscope
