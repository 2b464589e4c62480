// tools/process/log_stamp.hpp — tells a log by its header, and writes there how its process ended.
//
// Only the parent sees how it ended. Touches those fields of FileHeader alone, and only in a file
// that is a log of that process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

namespace vramscope {

// Whether the file begins as a log does, packed or not.
bool is_log(const std::filesystem::path& file);

struct SeenByParent {
    std::optional<int> wait_status; // as waitpid gives it
    bool exec_seen = false;
};

// Empty when it was written, otherwise what was in the way.
std::string stamp_log(const std::filesystem::path& log, pid_t pid, const SeenByParent& seen);

} // namespace vramscope
