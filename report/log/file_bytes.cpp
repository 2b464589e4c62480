// report/log/file_bytes.cpp — see file_bytes.hpp.
#include "report/log/file_bytes.hpp"

#include <atomic>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace vramscope::report {
namespace {

std::atomic<std::uint64_t> failed;

} // namespace

std::size_t read_file(int descriptor, std::uint64_t offset, void* out, std::size_t bytes) noexcept
{
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got = ::pread(descriptor, static_cast<char*>(out) + done, bytes - done,
                                    static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        failed += got < 0;
        if (got <= 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

std::uint64_t failed_reads() noexcept
{
    return failed;
}

std::uint64_t bytes_of_file(int descriptor) noexcept
{
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

} // namespace vramscope::report
