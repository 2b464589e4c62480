// tracker/environment/log_name.hpp — the name of a process's log, from the pattern that was set.
//
//   %e program   %p process id   %h host   %t start time (s)   %r rank
//   %q{NAME} what the variable NAME holds   %% one %
//
// What has no rank, and a variable that is not set, is "none": a launcher itself has no rank, and
// is started with the pattern of those that have. Nothing that comes from outside leads out of the
// folder that the pattern names.
#pragma once

#include <cstddef>
#include <sys/types.h>

namespace vramscope::log {

struct LogOwner {
    const char* program; // the file's name, without folders
    pid_t pid;
};

// What a name may be made of, for those who are told that it is wrong.
inline constexpr const char* kLogNameParts = "%e %p %h %t %r %q{NAME}";

// False: the name is empty or does not fit, or there is a % that means nothing. Reads the
// environment; allocates nothing.
bool expand_log_name(const char* pattern, const LogOwner& owner, char* out,
                     std::size_t capacity) noexcept;

} // namespace vramscope::log
