// tools/process/log_stamp.hpp — writes how the process ended into its log's header.
//
// Only the parent sees how it ended. Touches those fields of FileHeader alone, and only in a file
// that is a log of that process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

namespace vramscope {

struct SeenByParent {
    std::optional<int> wait_status; // as waitpid gives it
    bool exec_seen = false;
};

// Empty when it was written, otherwise what was in the way.
std::string stamp_log(const std::filesystem::path& log, pid_t pid, const SeenByParent& seen);

} // namespace vramscope
