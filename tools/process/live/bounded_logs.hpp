// tools/process/live/bounded_logs.hpp — the logs of all processes that `run` started, collected
// while it waits for its program.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <thread>

#include "tools/process/live/run_file.hpp"

namespace vramscope {

// Error (125): the logs of this folder could not be collected.
void check_that_logs_can_be_collected(const std::filesystem::path& folder);

// A thread of this command's own, which inherits its signal mask: begin it when that is as it
// shall be. What goes wrong is one line on stderr for each log.
class BoundedLogs {
public:
    // Each log is collected before it takes so much of the disk, as far as that is enough.
    BoundedLogs(const RunFile& run_file, std::uint64_t most_bytes);
    ~BoundedLogs(); // waits for a collection that was begun
    BoundedLogs(const BoundedLogs&) = delete;
    BoundedLogs& operator=(const BoundedLogs&) = delete;

private:
    void work();

    const RunFile& run_file_;
    const std::uint64_t most_bytes_;
    std::mutex mutex_; // over what follows
    std::condition_variable changed_;
    bool ended_ = false;
    std::thread thread_;
};

} // namespace vramscope
