// tools/process/log_stamp.cpp — what a file begins with, and pwrite of single header fields.
#include "tools/process/log_stamp.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "report/log/packed_file.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope {
namespace {

using format::FileHeader;

bool write_field(int descriptor, const void* value, std::size_t bytes, std::size_t offset)
{
    return ::pwrite(descriptor, value, bytes, static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes);
}

bool is_log_of(int descriptor, pid_t pid)
{
    struct stat status;
    char start[offsetof(FileHeader, parent_pid)];
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < format::kHeaderBytes ||
        ::pread(descriptor, start, sizeof start, 0) != static_cast<ssize_t>(sizeof start))
        return false;
    std::uint16_t major = 0;
    std::uint32_t owner = 0;
    std::memcpy(&major, start + offsetof(FileHeader, major), sizeof major);
    std::memcpy(&owner, start + offsetof(FileHeader, pid), sizeof owner);
    return std::memcmp(start, format::kMagic, sizeof format::kMagic) == 0 &&
           (major == format::kMajorVersion || major == format::kCollectedMajorVersion) &&
           owner == static_cast<std::uint32_t>(pid);
}

bool write_seen(int descriptor, const SeenByParent& seen)
{
    const std::uint32_t yes = 1;
    if (seen.wait_status) {
        const std::int32_t status = *seen.wait_status;
        if (!write_field(descriptor, &status, sizeof status, offsetof(FileHeader, wait_status)) ||
            !write_field(descriptor, &yes, sizeof yes, offsetof(FileHeader, waited)))
            return false;
    }
    return !seen.exec_seen ||
           write_field(descriptor, &yes, sizeof yes, offsetof(FileHeader, exec_seen));
}

} // namespace

bool is_log(const std::filesystem::path& file)
{
    char magic[sizeof format::kMagic] = {};
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored) &&
           std::ifstream(file, std::ios::binary).read(magic, sizeof magic) &&
           (std::memcmp(magic, format::kMagic, sizeof magic) == 0 ||
            report::PackedFile::is_packed(magic, sizeof magic));
}

std::string stamp_log(const std::filesystem::path& log, pid_t pid, const SeenByParent& seen)
{
    const int descriptor = ::open(log.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return std::strerror(errno);
    std::string problem;
    if (!is_log_of(descriptor, pid))
        problem = "it is not a log of that process";
    else if (!write_seen(descriptor, seen))
        problem = std::strerror(errno);
    ::close(descriptor);
    return problem;
}

} // namespace vramscope
