// report/input_text.hpp — a short file that a person wrote: rules, or budgets.
//
// A regular file only: to open a FIFO waits for its writer, and to read a device may do anything.
#pragma once

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "report/error.hpp"

namespace vramscope::report {

// `what`: "the budget", for the Error (usage) that says why it cannot be read.
inline std::string read_input_text(const std::filesystem::path& path, const char* what,
                                   std::size_t most_bytes)
{
    const auto refuse = [&](const char* why) {
        throw Error(Exit::usage,
                    std::string("cannot read ") + what + ' ' + path.string() + ": " + why);
    };
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        refuse(std::strerror(errno));
    struct stat status {};
    const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    std::string text(regular ? most_bytes + 1 : 0, '\0');
    std::size_t bytes = 0;
    ssize_t got = 0;
    while (bytes < text.size() &&
           (got = ::read(file, text.data() + bytes, text.size() - bytes)) > 0)
        bytes += static_cast<std::size_t>(got);
    const int problem = got < 0 ? errno : 0;
    ::close(file);
    if (!regular)
        refuse(S_ISDIR(status.st_mode) ? std::strerror(EISDIR) : "it is no regular file");
    if (problem != 0 || bytes > most_bytes)
        refuse(std::strerror(problem != 0 ? problem : EFBIG));
    text.resize(bytes);
    return text;
}

} // namespace vramscope::report
