// tools/process/live/bounded_logs.cpp — a look at each log a few times a second.
#include "tools/process/live/bounded_logs.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/live/collector.hpp"
#include "tracker/log/outside_checkpoint.hpp"

namespace vramscope {
namespace {

constexpr std::chrono::milliseconds kLook(200);
// A log is collected when it has grown by a share of what it may take; by less where that is much,
// so that it is soon done, and soon read.
constexpr std::uint64_t kShare = 4;
constexpr std::uint64_t kMostGrowth = 16 << 20;

// One log. There is no collector once there is nothing more to collect.
struct BoundedLog {
    std::unique_ptr<Collector> collector;
    bool told = false; // of what went wrong
};

void tell_once(BoundedLog& log, const std::string& what)
{
    if (!std::exchange(log.told, true))
        warn("--bounded: " + what);
}

void collect(BoundedLog& log, std::uint64_t most_bytes)
{
    try {
        log.collector->collect_if_grown(std::min(most_bytes / kShare, kMostGrowth));
    } catch (const std::exception& error) {
        tell_once(log, fmt::format("{}; it is tried again", error.what()));
    }
    if (const std::uint64_t bytes = log.collector->bytes_on_disk(); bytes > most_bytes)
        tell_once(log, fmt::format("what {} needs is {}", log.collector->name().string(),
                                   report::human_bytes(bytes)));
}

void look_at(BoundedLog& log, std::uint64_t most_bytes)
{
    if (log.collector && log.collector->program_ended())
        log.collector.reset();
    if (log.collector)
        collect(log, most_bytes);
}

// One that has ended already is small, or was.
BoundedLog begin(const RunLog& log)
{
    BoundedLog begun;
    try {
        begun.collector = std::make_unique<Collector>(log.path);
    } catch (const report::Error& error) {
        if (error.exit() != report::Exit::nothing_observed)
            tell_once(begun, error.what());
    } catch (const std::exception& error) {
        tell_once(begun, error.what());
    }
    return begun;
}

} // namespace

void check_that_logs_can_be_collected(const std::filesystem::path& folder)
{
    std::string name = (folder / ".vramscope-XXXXXX").string();
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0)
        throw report::Error(
            report::Exit::usage,
            fmt::format("cannot write to {}: {}", folder.string(), std::strerror(errno)));
    ::unlink(name.c_str());
    const bool can = log::can_give_back(descriptor);
    const int reason = errno;
    ::close(descriptor);
    if (!can)
        throw report::Error(
            report::Exit::usage,
            fmt::format("--bounded: the file system of {} cannot give back a part of a file ({}); "
                        "ext4, xfs, btrfs and tmpfs can: -o names a log there",
                        folder.string(), std::strerror(reason)));
}

BoundedLogs::BoundedLogs(const RunFile& run_file, std::uint64_t most_bytes)
    : run_file_(run_file), most_bytes_(most_bytes), thread_([this] { work(); })
{
}

BoundedLogs::~BoundedLogs()
{
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void BoundedLogs::work()
{
    std::map<std::filesystem::path, BoundedLog> logs;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, [this] { return ended_; })) {
        lock.unlock();
        for (const RunLog& log : logs_of(run_file_.read()))
            if (!logs.contains(log.path))
                logs.emplace(log.path, begin(log));
        for (auto& [path, log] : logs)
            look_at(log, most_bytes_);
        lock.lock();
    }
}

} // namespace vramscope
