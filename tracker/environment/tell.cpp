// tracker/environment/tell.cpp — lines on stderr and in the run file.
#include "tracker/environment/tell.hpp"

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/format/terminal_text.hpp"

namespace vramscope::log {
namespace {

// The descriptor's own flags are its program's and are left as they are. A pipe takes a line of
// less than PIPE_BUF whole or not at all; kernels that cannot be asked for that are asked first
// whether there is room.
void write_at_once(int descriptor, const char* text, std::size_t bytes) noexcept
{
    struct stat status;
    if (::fstat(descriptor, &status) != 0)
        return;
    if (S_ISSOCK(status.st_mode)) {
        ::send(descriptor, text, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    const capture::WriteSignalsHeld held;
    if (S_ISFIFO(status.st_mode)) {
        const iovec part{const_cast<char*>(text), bytes};
        if (::pwritev2(descriptor, &part, 1, -1, RWF_NOWAIT) >= 0 ||
            (errno != EOPNOTSUPP && errno != ENOSYS))
            return;
    }
    pollfd ready{descriptor, POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT)) [[maybe_unused]]
        const ssize_t written = ::write(descriptor, text, bytes);
}

struct KeptFile {
    bool known = false; // false: nobody asked
    dev_t device = 0;   // of a descriptor that was closed: as of no file
    ino_t inode = 0;
};
constinit KeptFile kept_stderr;

bool is_still_stderr() noexcept
{
    struct stat status;
    return ::fstat(STDERR_FILENO, &status) == 0 &&
           (!kept_stderr.known || S_ISCHR(status.st_mode) ||
            (status.st_dev == kept_stderr.device && status.st_ino == kept_stderr.inode));
}

bool is_run_file(int descriptor, const char* nonce) noexcept
{
    constexpr std::size_t kHeadingBytes = sizeof kRunFileHeading - 1;
    struct stat status;
    char heading[kHeadingBytes + kNonceBytes + 1];
    return ::fstat(descriptor, &status) == 0 && is_private(status) &&
           ::pread(descriptor, heading, sizeof heading, 0) ==
               static_cast<ssize_t>(sizeof heading) &&
           std::memcmp(heading, kRunFileHeading, kHeadingBytes) == 0 &&
           std::memcmp(heading + kHeadingBytes, nonce, kNonceBytes) == 0 &&
           heading[sizeof heading - 1] == '\n';
}

constexpr int kAppend = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;

bool begin_run_file(int descriptor, const char* nonce) noexcept
{
    char heading[sizeof kRunFileHeading + kNonceBytes + 1];
    const int bytes = std::snprintf(heading, sizeof heading, "%s%.*s\n", kRunFileHeading,
                                    static_cast<int>(kNonceBytes), nonce);
    return ::write(descriptor, heading, static_cast<std::size_t>(bytes)) == bytes;
}

// -1: it cannot be made.
int open_beside(const char* path, const char* nonce) noexcept
{
    const capture::Scratch<char[PATH_MAX + 16]> name;
    if (!name || std::snprintf(*name, sizeof *name, "%s.%u", path, ::geteuid()) >=
                     static_cast<int>(sizeof *name))
        return -1;
    const int made = ::open(*name, kAppend | O_CREAT | O_EXCL, 0600);
    if (made >= 0 && begin_run_file(made, nonce))
        return made;
    const int descriptor = made >= 0 ? made : ::open(*name, kAppend);
    if (descriptor < 0 || is_run_file(descriptor, nonce))
        return descriptor;
    ::close(descriptor);
    return -1;
}

// -1: the variable names none. Only a regular file is opened, since to open a device can change it.
int open_run_file(const char* named) noexcept
{
    if (std::strlen(named) <= kNonceBytes || named[kNonceBytes] != ':')
        return -1;
    const char* const path = named + kNonceBytes + 1;
    struct stat status;
    if (::lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    const int descriptor = ::open(path, kAppend);
    if (descriptor < 0 && errno == EACCES)
        return open_beside(path, named);
    if (descriptor < 0 || is_run_file(descriptor, named))
        return descriptor;
    ::close(descriptor);
    return -1;
}

} // namespace

bool is_private(const struct stat& status) noexcept
{
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
           (status.st_mode & 07777) == 0600 && status.st_nlink == 1;
}

void keep_stderr() noexcept
{
    const int saved_errno = errno;
    struct stat status;
    kept_stderr = ::fstat(STDERR_FILENO, &status) == 0
                      ? KeptFile{true, status.st_dev, status.st_ino}
                      : KeptFile{true};
    errno = saved_errno;
}

void tell(const char* format, ...) noexcept
{
    const int saved_errno = errno;
    const capture::Scratch<char[1024]> text;
    if (!text) {
        errno = saved_errno;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(*text, sizeof *text, format, arguments);
    va_end(arguments);
    announce("note", *text);
    char line[1024] = "vramscope: ";
    const std::size_t prefix = std::strlen(line);
    // Paths and settings may hold anything.
    format::copy_terminal_safe(*text, line + prefix, sizeof line - prefix - 1);
    std::strcat(line, "\n");
    if (is_still_stderr())
        write_at_once(STDERR_FILENO, line, std::strlen(line));
    errno = saved_errno;
}

void announce(const char* kind, const char* text) noexcept
{
    const char* run_file = settings().run_file;
    if (!*run_file)
        return;
    const int saved_errno = errno;
    const capture::Scratch<char[PATH_MAX + 64]> room;
    const int descriptor = room ? open_run_file(run_file) : -1;
    if (descriptor >= 0) {
        auto& line = *room;
        int length =
            std::snprintf(line, sizeof line, "%s\t%d\t", kind, static_cast<int>(::getpid()));
        for (; *text && length + 2 < static_cast<int>(sizeof line); ++text)
            line[length++] = *text == '\n' || *text == '\t' ? ' ' : *text;
        line[length++] = '\n';
        const capture::WriteSignalsHeld held;
        [[maybe_unused]] const ssize_t written =
            ::write(descriptor, line, static_cast<std::size_t>(length));
        ::close(descriptor);
    }
    errno = saved_errno;
}

} // namespace vramscope::log
