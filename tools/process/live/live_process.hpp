// tools/process/live/live_process.hpp — from a running process to the log that it is writing.
//
// Only /proc is asked; the process is neither stopped nor sent anything. It has its log's header
// mapped for as long as it runs, and the header says which process it belongs to, so the log of
// another process is never taken for its own. The log may have been deleted, renamed, or be named
// in another mount namespace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <sys/types.h>
#include <vector>

namespace vramscope {

struct LiveProcess {
    pid_t pid = 0; // as this command sees it; in a container it has another one for itself
    std::uint64_t start = 0;    // field 22 of /proc/PID/stat
    std::filesystem::path name; // the log's, as the process knows it
    std::filesystem::path door; // opens that very file, also when the process has ended meanwhile
    std::shared_ptr<const int> held; // the descriptor of ours that the door leads through
};

// Error (110) if there is no such process, it has ended, has no log, or may not be looked into.
LiveProcess find_live_process(pid_t pid);

// The processes of all users that /proc shows, by pid.
std::vector<pid_t> all_processes();

// What is in a small file, as those of /proc. Empty if it cannot be read.
std::string text_of(const std::filesystem::path& file);

// The traced processes of this user, by pid. Empty: there is none.
std::vector<LiveProcess> find_live_processes();

bool is_alive(const LiveProcess& process);

// The log, for reading and writing; Error (110) unless it is this user's own regular file, and
// still the log of that process. The caller closes the descriptor.
int open_log_for_writing(const LiveProcess& process);

} // namespace vramscope
