// tools/process/live/trusted_file.cpp — what is read is what was looked at: one descriptor.
#include "tools/process/live/trusted_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace vramscope {

std::string read_trusted(const std::filesystem::path& path, std::size_t most_bytes,
                         const std::function<bool(const struct stat&)>& is_trusted)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    std::string bytes;
    if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        is_trusted(status)) {
        bytes.resize(std::min(static_cast<std::size_t>(status.st_size), most_bytes));
        const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    }
    if (descriptor >= 0)
        ::close(descriptor);
    return bytes;
}

} // namespace vramscope
