// tools/process/live/collector.cpp — one collection: replay, publish, give back.
#include "tools/process/live/collector.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/findings/process_end.hpp"
#include "report/log/file_bytes.hpp"
#include "report/log/given_back.hpp"
#include "report/log/log_file.hpp"
#include "tracker/capture/clock.hpp"
#include "tracker/log/outside_checkpoint.hpp"
#include "tracker/log/outside_lock.hpp"

namespace vramscope {
namespace fs = std::filesystem;
using report::Error;
using report::Exit;
using report::LogFile;
namespace {

[[noreturn]] void refuse(const fs::path& log, Exit exit, std::string_view why)
{
    throw Error(exit, fmt::format("cannot collect {}: {}", log.string(), why));
}

// Bytes of the file whose locks say who is there.
constexpr off_t kCollectorByte = 0; // there is one
constexpr off_t kReadersByte = 1;   // each reader has it with others: LogFile::hold()

LiveProcess process_of(const fs::path& log)
{
    const format::FileHeader header = LogFile::open(log, LogFile::Collected::taken).header();
    if (!report::process_is_running(header.pid, header.process_start))
        refuse(log, Exit::nothing_observed,
               "no program writes it; one in another container is named by its PID");
    return {.pid = static_cast<pid_t>(header.pid),
            .start = header.process_start,
            .name = log,
            .door = log,
            .held = nullptr};
}

// What no thread that is in its call now writes down later. A thread takes the time of what it does
// at most a moment before that is in the log; but that of a free from before its driver call, and
// says so in its chunk.
std::uint64_t settled_moment(const LogFile& log, std::uint64_t now)
{
    constexpr std::uint64_t kWritten = 1'000'000'000;      // ns
    constexpr std::uint64_t kLongestFree = 60'000'000'000; // it may hang for ever
    const report::LogReader reader(log);
    const report::TickClock& clock = reader.clock();
    const auto before = [&](std::uint64_t ns) {
        return clock.ticks_at(clock.ns(now) - std::min(ns, clock.ns(now)));
    };
    std::uint64_t moment = before(kWritten);
    for (const report::PendingFree& free : reader.pending_frees())
        moment = std::min(moment, std::max(free.ticks, before(kLongestFree)) - 1);
    return moment;
}

void check_version(const fs::path& name, const format::FileHeader& header)
{
    const bool counts_begun = header.major == format::kCollectedMajorVersion ||
                              (header.major == format::kMajorVersion && header.minor >= 1);
    if (!counts_begun || header.chunk_bytes != format::kChunkBytes ||
        header.header_bytes != format::kHeaderBytes)
        refuse(name, Exit::nothing_observed, "another version of vramscope writes it");
}

} // namespace

struct Collector::Replayed {
    std::string checkpoint; // empty: there is nothing to give back
    std::vector<report::EmptyRun> given_back;
};

Collector::Collector(const LiveProcess& process)
    : process_(process), descriptor_(open_log_for_writing(process))
{
    begin();
}

Collector::Collector(const fs::path& log) : Collector(process_of(log)) {}

Collector::~Collector()
{
    ::close(descriptor_);
}

void Collector::begin()
{
    try {
        check_version(name(), LogFile::open(process_.door, LogFile::Collected::taken).header());
        log::OutsideLock lock(descriptor_, kCollectorByte, 1);
        if (!lock.held())
            refuse(name(), Exit::usage,
                   errno == EAGAIN || errno == EACCES
                       ? "another process collects it already"
                       : "its file system knows no locks (F_OFD_SETLK)");
        if (!log::can_give_back(descriptor_))
            refuse(name(), Exit::usage,
                   fmt::format("its file system cannot give back a part of a file ({}); ext4, xfs, "
                               "btrfs and tmpfs can",
                               std::strerror(errno)));
        lock.keep();
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

bool Collector::program_ended() const
{
    return !is_alive(process_);
}

bool Collector::log_was_left() const
{
    struct stat own, its;
    try {
        const LiveProcess now = find_live_process(process_.pid);
        return ::fstat(descriptor_, &own) == 0 && ::stat(now.door.c_str(), &its) == 0 &&
               (own.st_ino != its.st_ino || own.st_dev != its.st_dev);
    } catch (const Error&) {
        return true; // it has none, or has ended
    }
}

std::uint64_t Collector::bytes_on_disk() const
{
    struct stat status;
    constexpr std::uint64_t kUnit = 512;
    return ::fstat(descriptor_, &status) == 0 ? kUnit * static_cast<std::uint64_t>(status.st_blocks)
                                              : 0;
}

Collector::Replayed Collector::replay() const
{
    const std::uint64_t failed_before = report::failed_reads();
    // The moment comes before the log is looked at: see LogReader::hold_back().
    const fs::path own_door = fs::path("/proc/self/fd") / std::to_string(descriptor_);
    const format::Clock clock = LogFile::open(own_door, LogFile::Collected::taken).header().clock;
    const std::uint64_t now = capture::read_ticks(clock);
    const LogFile file = LogFile::open(own_door, LogFile::Collected::taken);
    const std::uint64_t moment = settled_moment(file, now);
    const auto log = report::begin_collection(file, moment);
    if (!log)
        return {};
    log->read();
    Replayed replayed{{}, chunks_to_give_back(file, log->reading.reader().kept())};
    if (!replayed.given_back.empty())
        replayed.checkpoint = checkpoint_of(*log);
    if (!replayed.checkpoint.empty())
        check_collected_checkpoint(replayed.checkpoint, file);
    if (report::failed_reads() != failed_before) // what was not read must not be given back
        refuse(name(), Exit::usage, "a part of it could not be read");
    return replayed;
}

// Not by time: each collection writes all that the checkpoint has, and what is behind it is read in
// a moment.
Collector::Outcome Collector::collect_if_grown(std::uint64_t bytes)
{
    constexpr std::chrono::milliseconds kSettled(1500);
    constexpr std::chrono::seconds kMended(15);
    const auto now = std::chrono::steady_clock::now();
    const bool grown = bytes_on_disk() >= bytes_before_ + bytes;
    if (!grown && (!again_ || now < *again_))
        return Outcome::nothing;
    again_ = now + kMended; // if it fails
    const Outcome outcome = collect();
    if (grown || outcome == Outcome::read)
        again_ = now + kSettled;
    else
        again_.reset();
    return outcome;
}

Collector::Outcome Collector::collect()
{
    bytes_before_ = bytes_on_disk(); // whatever becomes of this try
    const Replayed replayed = replay();
    if (replayed.checkpoint.empty())
        return Outcome::nothing;
    const log::OutsideLock alone(descriptor_, kReadersByte, 1);
    if (!alone.held())
        return Outcome::read;
    if (!log::publish_checkpoint(descriptor_, replayed.checkpoint))
        refuse(name(), Exit::usage, std::strerror(errno));
    checkpoint_bytes_ = replayed.checkpoint.size();
    for (const report::EmptyRun& run : replayed.given_back)
        if (!log::give_back(descriptor_, run.first, run.end))
            refuse(name(), Exit::usage, std::strerror(errno));
    bytes_before_ = bytes_on_disk();
    return Outcome::collected;
}

} // namespace vramscope
