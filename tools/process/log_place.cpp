// tools/process/log_place.cpp — expand, look, try to write.
#include "tools/process/log_place.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/model/call_place.hpp"
#include "tracker/environment/log_name.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_log(const std::string& message)
{
    throw report::Error(report::Exit::usage, message);
}

// access() is right about these; for others, such as /proc, only trying tells.
bool is_usual(const struct statfs& disk)
{
    constexpr std::uint32_t kUsual[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                        TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
    return std::ranges::count(kUsual, static_cast<std::uint32_t>(disk.f_type)) != 0;
}

// Makes a file without a name. 0, or why that is not possible.
int try_a_file(const std::string& folder)
{
    int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0 &&
        (errno == EOPNOTSUPP || errno == EISDIR)) { // a file system without nameless files
        std::string name = folder + ".vramscope-XXXXXX";
        descriptor = ::mkstemp(name.data());
        if (descriptor >= 0)
            ::unlink(name.c_str());
    }
    const int problem = descriptor < 0 ? errno : 0;
    if (descriptor >= 0)
        ::close(descriptor);
    return problem;
}

// Why a file could not grow to so many bytes, or 0. Space is not taken, as giving it back may wait
// for the disk.
int lack_of_room(const struct statfs& disk, std::uint64_t bytes)
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
        return EFBIG;
    if (disk.f_blocks == 0) // it has no limit
        return 0;
    const std::uint64_t blocks = ::geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
    const bool full = disk.f_files != 0 && disk.f_ffree == 0;
    return full || blocks * static_cast<std::uint64_t>(disk.f_frsize) < bytes ? ENOSPC : 0;
}

// Why no file of so many bytes can be written in a folder, or 0.
int why_no_file(const std::string& folder, std::uint64_t bytes)
{
    struct statfs disk {};
    if (::statfs(folder.c_str(), &disk) != 0)
        return errno;
    const bool usual = is_usual(disk);
    if (usual && ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        return errno;
    const int problem = usual ? 0 : try_a_file(folder);
    return problem != 0 ? problem : lack_of_room(disk, bytes);
}

} // namespace

std::string absolute_pattern(const std::string& pattern)
{
    if (pattern.starts_with('/'))
        return pattern;
    std::string folder;
    for (const char c : fs::current_path().string())
        folder += c == '%' ? "%%" : std::string(1, c);
    return folder + "/" + pattern;
}

std::string expand_pattern(const std::string& pattern, std::string_view program, pid_t pid)
{
    const std::string name(report::file_name(program));
    char path[PATH_MAX];
    if (!log::expand_log_name(pattern.c_str(), {name.c_str(), pid}, path, sizeof path))
        refuse_log(
            fmt::format("the log's name '{}' has a % that means nothing, or is too long: use "
                        "{}, or %% for one %",
                        pattern, log::kLogNameParts));
    return path;
}

void check_folder(const std::string& log)
{
    constexpr std::uint64_t kRoom = format::kHeaderBytes + 4 * format::kChunkBytes;
    const std::string folder = log.substr(0, log.rfind('/') + 1);
    const int problem = why_no_file(folder, kRoom);
    if (problem != 0)
        refuse_log(fmt::format("cannot write the log to {}: {}; choose another place with -o",
                               folder, std::strerror(problem)));
}

void make_way(const std::string& log, bool force)
{
    struct stat status;
    if (::lstat(log.c_str(), &status) != 0)
        return;
    if (!force)
        refuse_log(fmt::format("{} exists: choose another name, or --force to overwrite it", log));
    if (!S_ISREG(status.st_mode))
        refuse_log(fmt::format("{} is not a regular file, and is not overwritten", log));
    if (::unlink(log.c_str()) != 0)
        refuse_log(fmt::format("cannot overwrite {}: {}", log, std::strerror(errno)));
}

} // namespace vramscope
