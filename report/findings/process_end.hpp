// report/findings/process_end.hpp — how a traced process ended.
//
// This is judged from what the process and its parent wrote down.
#pragma once

#include <cstdint>
#include <string>

#include "report/model/process_end.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope::report {

// `running`: see is_running().
ProcessEnd judge_end(const format::FileHeader& header, bool running) noexcept;

// Field 22 of /proc/PID/stat, which tells a process from a later one with its pid. 0: there is
// none, or it is a zombie.
std::uint64_t process_start(std::uint32_t pid);

// A process with this pid and this start time (field 22 of /proc/PID/stat) exists and is no zombie.
bool process_is_running(std::uint32_t pid, std::uint64_t start_time);
// The log's process is alive right now, or was when a snapshot made this log.
bool is_running(const format::FileHeader& header);

} // namespace vramscope::report
