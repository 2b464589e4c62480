// tracker/lifecycle/opening.cpp — the name of the file, its header, and the line that tells of it.
#include "tracker/lifecycle/opening.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>

#include "tracker/environment/log_name.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/environment/tell.hpp"
#include "tracker/log/process.hpp"

namespace vramscope::log {
namespace {

std::uint64_t process_start_time() noexcept
{
    const int descriptor = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return 0;
    char text[1024];
    const ssize_t length = ::read(descriptor, text, sizeof text - 1);
    ::close(descriptor);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char* at = std::strrchr(text, ')'); // the name may hold anything, ')' included
    for (int field = 2; at && field < 22; ++field)
        at = std::strchr(at + 1, ' ');
    std::uint64_t ticks = 0;
    if (at) // not strtoull: glibc 2.38 has another symbol for it, which older systems lack
        std::from_chars(at + 1, text + length, ticks);
    return ticks;
}

void fill_header(format::FileHeader& header, format::Clock clock) noexcept
{
    std::memcpy(header.magic, format::kMagic, sizeof header.magic);
    header.major = format::kMajorVersion;
    header.minor = format::kMinorVersion;
    header.byte_order = format::kByteOrder;
    header.header_bytes = format::kHeaderBytes;
    header.chunk_bytes = format::kChunkBytes;
    header.pid = static_cast<std::uint32_t>(::getpid());
    header.parent_pid = static_cast<std::uint32_t>(::getppid());
    header.clock = clock;
    header.process_start = process_start_time();
    header.start_real_ns = capture::clock_ns(CLOCK_REALTIME);
    header.start_ticks = header.latest_ticks = capture::read_ticks(clock);
    header.start_ns = header.latest_ns = capture::clock_ns(CLOCK_MONOTONIC);
}

bool create_file() noexcept
{
    struct Room {
        char path[kPathBytes];
        char absolute[kPathBytes];
    };
    const capture::Scratch<Room> room;
    if (!room)
        return false;
    auto& [path, absolute] = *room;
    if (!expand_log_name(settings().log, {program_invocation_short_name, ::getpid()}, path,
                         sizeof path)) {
        tell("VRAMSCOPE_LOG=%.200s is no usable file name (%s are known): not tracing",
             settings().log, kLogNameParts);
        return false;
    }
    if (!log_file.create(path)) {
        tell("cannot create the log %.500s: %s; the program runs on untraced (set VRAMSCOPE_LOG, "
             "or -o)",
             path, std::strerror(errno));
        return false;
    }
    log_file.limit(settings().max_log_bytes);
    if (*log_file.path() != '/' && ::getcwd(absolute, sizeof absolute) &&
        std::strlen(absolute) + std::strlen(log_file.path()) + 2 < sizeof absolute) {
        std::strcat(absolute, "/");
        std::strcat(absolute, log_file.path());
    } else {
        std::strcpy(absolute, log_file.path());
    }
    announce("log", absolute);
    if (std::strcmp(path, log_file.path()) != 0)
        tell("%.400s exists and is kept; the log is %.400s", path, log_file.path());
    return true;
}

} // namespace

StandardDescriptors::StandardDescriptors() noexcept
{
    for (int number = 0; number <= STDERR_FILENO; ++number)
        if (::fcntl(number, F_GETFD) < 0)
            taken_[number] = ::open("/dev/null", O_RDWR | O_CLOEXEC) == number;
}

StandardDescriptors::~StandardDescriptors()
{
    for (int number = 0; number <= STDERR_FILENO; ++number)
        if (taken_[number])
            ::close(number);
}

bool open_log_file() noexcept
{
    if (!create_file())
        return false;
    process->clock = capture::choose_clock();
    process->header = log_file.header();
    fill_header(*process->header, process->clock);
    return true;
}

} // namespace vramscope::log
