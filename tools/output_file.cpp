// tools/output_file.cpp — see output_file.hpp.
#include "tools/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "report/error.hpp"

namespace vramscope {
namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& destination) : name_(destination)
{
    if (destination == "-") {
        name_ = "stdout";
        descriptor_ = STDOUT_FILENO;
        return;
    }
    std::error_code ignored;
    const auto status = fs::status(destination, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        descriptor_ = ::open(destination.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        const bool link = fs::is_symlink(fs::symlink_status(destination, ignored));
        path_ = link ? fs::weakly_canonical(destination).string() : destination;
        open_beside();
    }
    if (descriptor_ < 0)
        fail();
}

// Without a name where the file system has such files: then nothing is left of it, however we end.
void OutputFile::open_beside()
{
    const fs::path folder = fs::path(path_).parent_path();
    temporary_ = fmt::format("{}.{}.tmp", path_, ::getpid());
    descriptor_ =
        ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
    nameless_ = descriptor_ >= 0;
    if (!nameless_)
        descriptor_ =
            ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
}

OutputFile::~OutputFile()
{
    if (descriptor_ < 0 || descriptor_ == STDOUT_FILENO)
        return;
    ::close(descriptor_);
    if (!temporary_.empty() && !nameless_)
        ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            fail();
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

void OutputFile::finish()
{
    if (descriptor_ == STDOUT_FILENO)
        return;
    if (nameless_) {
        const std::string file = fmt::format("/proc/self/fd/{}", descriptor_);
        if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
            fail();
    }
    const bool closed = ::close(descriptor_) == 0;
    descriptor_ = -1;
    if (closed && (temporary_.empty() || ::rename(temporary_.c_str(), path_.c_str()) == 0))
        return;
    const int problem = errno;
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
    errno = problem;
    fail();
}

void OutputFile::fail() const
{
    throw report::Error(report::Exit::usage,
                        fmt::format("cannot write {}: {}", name_, std::strerror(errno)));
}

} // namespace vramscope
