// tools/process/live/collector.hpp — keeps the log of a running program small, from outside.
//
// It replays chunks that are full, puts what that tells into the log as a checkpoint, and gives the
// chunks' space back: see report/checkpoint/collected.hpp. The program knows nothing of it. It may
// be killed at any moment; the next one goes on from the checkpoint.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "report/checkpoint/collected.hpp"
#include "tools/process/live/live_process.hpp"

namespace vramscope {

class Collector {
public:
    // Error, before anything is changed: the log is not this user's, is of another version or is
    // collected by another process, or its file system cannot give chunks back.
    explicit Collector(const LiveProcess& process);
    // Of a log whose process is in this pid namespace and runs.
    explicit Collector(const std::filesystem::path& log);
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
    ~Collector();

    enum class Outcome {
        nothing,   // no chunk has become full since
        read,      // somebody reads the log: the next time
        collected, // its checkpoint is published
    };
    // Error: it could not, as on a full disk. What was collected before stays as it was.
    Outcome collect();
    // If it is worth it: when the log has grown by so much on the disk since the last time; once
    // more when what made it grow has settled, as that was too young then; and again where it
    // failed or the log was being read.
    Outcome collect_if_grown(std::uint64_t bytes = report::kWorthCollecting);

    bool program_ended() const;
    // It runs on as another program, after exec, and does not write this log any more. Costs a look
    // at all that it has mapped.
    bool log_was_left() const;
    const std::filesystem::path& name() const noexcept { return process_.name; }
    pid_t pid() const noexcept { return process_.pid; }
    std::uint64_t bytes_on_disk() const;
    std::size_t checkpoint_bytes() const noexcept { return checkpoint_bytes_; } // of the last one

private:
    void begin();
    struct Replayed;
    Replayed replay() const;

    LiveProcess process_; // its pid as this command sees it
    int descriptor_;
    std::size_t checkpoint_bytes_ = 0;
    std::uint64_t bytes_before_ = 0; // on the disk, behind the last collect()
    std::optional<std::chrono::steady_clock::time_point> again_; // whether it has grown or not
};

} // namespace vramscope
