// tools/watch/watch.cpp — one look after the other, in a process of its own.
#include "tools/watch/watch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/log_copy.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/live/log_snapshot.hpp"
#include "tools/process/signals.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {
namespace {

constexpr std::chrono::milliseconds kBusyInterval(100); // while a command runs

// None: it has ended, or is another program by now.
std::optional<LiveProcess> running(const RunLog& log)
{
    try {
        if (!log.exec_seen)
            return find_live_process(log.pid);
    } catch (const report::Error&) {
        // it has ended
    }
    return std::nullopt;
}

bool is_over(int pipe, std::chrono::milliseconds time)
{
    pollfd wanted{pipe, POLLIN, 0};
    return ::poll(&wanted, 1, static_cast<int>(time.count())) > 0;
}

[[noreturn]] void watch_until_closed(int pipe, const WatchPlan& plan, const RunFile& run_file)
{
    ignore_what_is_for_the_program();
    char begun = 0;
    if (::read(pipe, &begun, 1) != 1)
        ::_exit(0); // no program has started, and nothing is written for it
    Watch watch(plan);
    bool over = false;
    while (!over) {
        std::chrono::milliseconds left = plan.interval;
        for (; left.count() > 0 && !over; watch.tend()) {
            const auto time = watch.is_busy() ? std::min(left, kBusyInterval) : left;
            over = is_over(pipe, time);
            left -= time;
        }
        watch.look(logs_of(run_file.read()), over);
    }
    ::_exit(0);
}

} // namespace

Watch::Watch(const WatchPlan& plan) : plan_(plan)
{
    for (const WatchPlan::Command& one : plan.commands)
        commands_.emplace_back(one.command);
}

void Watch::look(const std::vector<RunLog>& logs, bool last)
{
    follow(logs, last);
    for (Program& program : programs_)
        if (program.report)
            look_at(program);
    forget_ended();
    if (plan_.metrics.wanted())
        write_metrics();
    tend();
    if (last)
        for (EventCommand& command : commands_)
            command.finish(kMostWaiting);
}

void Watch::tend()
{
    for (EventCommand& command : commands_)
        command.look();
}

bool Watch::is_busy() const
{
    return std::any_of(commands_.begin(), commands_.end(),
                       [](const EventCommand& one) { return one.is_running(); });
}

// Programs that were never seen to run are told of at the end alone: a run may have thousands.
void Watch::follow(const std::vector<RunLog>& logs, bool last)
{
    for (Program& program : programs_)
        for (const RunLog& log : logs)
            if (program.log.path == log.path && log.exec_seen)
                program.process.reset();
    for (const RunLog& log : logs) {
        if (known_.contains(log.path))
            continue;
        std::optional<LiveProcess> process = running(log);
        if (!process && !last)
            continue;
        known_.insert(log.path);
        try {
            auto report = std::make_unique<report::LiveReport>(process ? process->door : log.path,
                                                               plan_.symbols);
            programs_.push_back({log, std::move(process), std::move(report), {}, {}});
            for (const WatchPlan::Command& one : plan_.commands)
                programs_.back().states.emplace_back(one.rule);
        } catch (const report::Error& error) {
            warn(error.what());
        }
    }
}

void Watch::look_at(Program& program)
{
    program.seen.runs = program.process && is_alive(*program.process);
    try {
        const std::uint64_t ticks = capture::read_ticks(program.report->clock());
        program.report->read(program.seen.runs ? ticks : UINT64_MAX);
        program.seen.state = program.report->state(0);
        tell_events(program, ticks);
    } catch (const report::Error& error) {
        warn(error.what());
        program.report.reset();
    }
    if (!program.seen.runs)
        program.report.reset();
}

void Watch::tell_events(Program& program, std::uint64_t ticks)
{
    for (std::size_t at = 0; at < commands_.size(); ++at) {
        const std::string text = program.states[at].look(program.seen.state);
        if (text.empty())
            continue;
        const WatchEvent event = plan_.commands[at].rule.event;
        commands_[at].call(
            {name(event), program.log.pid, text, snapshot_of(program, event, ticks)});
    }
}

// Empty, if there can be none.
std::string Watch::snapshot_of(const Program& program, WatchEvent event, std::uint64_t ticks) const
{
    const bool runs = program.seen.runs;
    const std::string name =
        fmt::format("{}.{}", program.log.path.string(), vramscope::name(event));
    try {
        write_snapshot(Output(name, {program.log.path}, true),
                       runs ? program.process->door : program.log.path,
                       runs ? ticks : report::kWholeLog);
        return name;
    } catch (const report::Error& error) {
        warn(fmt::format("--on: no snapshot: {}", error.what()));
        return "";
    }
}

// All but the last few of those that ended; unlike them, a program that runs is never forgotten.
void Watch::forget_ended()
{
    auto ended = static_cast<std::size_t>(std::count_if(
        programs_.begin(), programs_.end(), [](const Program& one) { return !one.seen.runs; }));
    std::erase_if(programs_,
                  [&](const Program& one) { return !one.seen.runs && ended-- > kMostEnded; });
}

void Watch::write_metrics()
{
    std::vector<report::LiveMetrics> seen;
    for (const Program& program : programs_)
        seen.push_back(program.seen);
    try {
        for (const std::filesystem::path& log : known_) // its name may have been free before
            plan_.metrics.keep_off(log);
        OutputFile file(plan_.metrics);
        file.write(report::live_metrics(seen));
        file.finish();
    } catch (const report::Error& error) {
        if (!std::exchange(metrics_failed_, true))
            warn(fmt::format("--metrics: {}", error.what()));
    }
}

RunWatch::RunWatch(const WatchPlan& plan, const RunFile& run_file)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
        watcher_ = ::fork();
        if (watcher_ == 0) {
            ::close(ends[1]);
            watch_until_closed(ends[0], plan, run_file);
        }
        ::close(ends[0]);
        end_ = ends[1];
    }
    if (watcher_ < 0)
        throw report::Error(report::Exit::usage,
                            fmt::format("--metrics, --on: no process: {}", std::strerror(errno)));
}

void RunWatch::begin() const
{
    if (::write(end_, "", 1) != 1)
        warn("--metrics, --on: the process that watches has ended");
}

RunWatch::~RunWatch()
{
    ::close(end_);
    ::waitpid(watcher_, nullptr, 0);
}

} // namespace vramscope
