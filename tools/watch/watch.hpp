// tools/watch/watch.hpp — programs that run are looked at again and again, for --metrics and --on.
//
// Their logs alone are read; they are neither stopped nor signalled. What goes wrong is a line on
// stderr, once, and no harm to them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "report/exporters/live_metrics.hpp"
#include "report/findings/live.hpp"
#include "tools/process/live/live_process.hpp"
#include "tools/process/live/run_file.hpp"
#include "tools/watch/event_command.hpp"
#include "tools/watch/watch_options.hpp"

namespace vramscope {

class Watch {
public:
    explicit Watch(const WatchPlan& plan); // which outlives it

    // At the logs of programs that run, and at those that ended since the last look. `last`: at all
    // of them, and waits for the commands that it begins.
    void look(const std::vector<RunLog>& logs, bool last);
    void tend();          // to commands that have ended, between two looks
    bool is_busy() const; // a command runs

private:
    static constexpr std::size_t kMostEnded = 32; // programs that are still told of
    static constexpr std::chrono::seconds kMostWaiting{30};

    struct Program {
        RunLog log;
        std::optional<LiveProcess> process;         // none: it has ended
        std::unique_ptr<report::LiveReport> report; // null: it has ended, or cannot be read
        report::LiveMetrics seen;
        std::vector<WatchedState> states; // one for each command
    };

    void follow(const std::vector<RunLog>& logs, bool last);
    void look_at(Program& program);
    void tell_events(Program& program, std::uint64_t ticks);
    std::string snapshot_of(const Program& program, WatchEvent event, std::uint64_t ticks) const;
    void forget_ended();
    void write_metrics();

    const WatchPlan& plan_;
    std::vector<EventCommand> commands_;    // of the plan, in its order
    std::vector<Program> programs_;         // in the order of their logs
    std::set<std::filesystem::path> known_; // logs that were seen
    bool metrics_failed_ = false;
};

// While this is there, a process of its own watches what a RunFile announces, from begin() on: the
// program has started.
class RunWatch {
public:
    RunWatch(const WatchPlan& plan, const RunFile& run_file); // Error (125): no process can start
    ~RunWatch();                                              // after a last look, if it began
    void begin() const;
    RunWatch(const RunWatch&) = delete;
    RunWatch& operator=(const RunWatch&) = delete;

private:
    int end_ = -1; // a pipe: a byte begins the watch, and it is over when this is closed
    pid_t watcher_ = -1;
};

} // namespace vramscope
