// tools/process/live/left_running.hpp — traced processes that outlive the program of `run`.
//
// They are what that program forked, and what its children started. They are known by the run file
// in their environment, which fork and exec hand on, or by having announced themselves there; and
// by our library, which they have mapped.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tools/process/live/run_file.hpp"

namespace vramscope {

struct RunningProcess {
    pid_t pid;
    std::string program;
    bool may_use_cuda; // announced a log, or has CUDA's driver or runtime in it
};

// The program of `run`, which has ended.
struct EndedProgram {
    pid_t pid;
    std::chrono::steady_clock::time_point started; // or a little before
};

// By pid.
std::vector<RunningProcess> left_running(const EndedProgram& program,
                                         const std::filesystem::path& run_file,
                                         const std::vector<Announcement>& announcements);

// Why their run is not over, in a line for each. A process that does not use CUDA (a
// shell's background job, a daemon) is told only where `nothing_seen`: then it may be the
// one that was meant.
std::vector<std::string> doubts_of(const std::vector<RunningProcess>& running, bool nothing_seen);

} // namespace vramscope
