// report/import/rmm_log.cpp — lines to events; times have no date.
#include "report/import/rmm_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/import/output/log_writer.hpp"
#include "report/log/file_bytes.hpp"

namespace vramscope::report {
namespace {

using format::Effect;
using format::Memory;

constexpr std::string_view kRmmHead = "Thread,Time,Action,Pointer,Size,Stream";
constexpr std::size_t kMostLine = 4096;
constexpr std::uint64_t kRmmStart = 1'000'000'000; // ticks
constexpr std::uint64_t kRmmFirst = kRmmStart + 1000;
constexpr std::uint64_t kRmmOutOfMemory = 2; // CUDA_ERROR_OUT_OF_MEMORY
constexpr std::uint32_t kRmmDefinitions = 0; // lane
constexpr std::uint64_t kRmmAlloc = 1;
constexpr std::uint64_t kRmmFree = 2;

enum class RmmAction { allocate, free, failure };

struct RmmLine {
    std::uint64_t thread = 0;
    std::uint64_t us = 0; // since midnight
    RmmAction action = RmmAction::allocate;
    std::uint64_t pointer = 0;
    std::uint64_t bytes = 0;
    std::uint64_t stream = 0;
};

std::optional<std::uint64_t> number_in(std::string_view text)
{
    if (text == "(nil)")
        return 0;
    const bool hex = text.starts_with("0x");
    text.remove_prefix(hex ? 2 : 0);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

// "23:59:59.123456"; older versions have a colon before the fraction.
std::optional<std::uint64_t> time_in(std::string_view text)
{
    constexpr std::size_t kLength = 15;
    if (text.size() != kLength || text[2] != ':' || text[5] != ':' ||
        (text[8] != '.' && text[8] != ':'))
        return std::nullopt;
    const auto hours = number_in(text.substr(0, 2));
    const auto minutes = number_in(text.substr(3, 2));
    const auto seconds = number_in(text.substr(6, 2));
    const auto us = number_in(text.substr(9));
    if (!hours || !minutes || !seconds || !us || *hours > 23 || *minutes > 59 || *seconds > 60)
        return std::nullopt;
    return ((*hours * 60 + *minutes) * 60 + *seconds) * 1'000'000 + *us;
}

std::optional<RmmAction> action_in(std::string_view text)
{
    if (text == "allocate")
        return RmmAction::allocate;
    if (text == "free")
        return RmmAction::free;
    return text == "allocate failure" ? std::optional(RmmAction::failure) : std::nullopt;
}

class RmmReader {
public:
    RmmReader(int descriptor, const std::string& name) : descriptor_(descriptor), name_(name) {}

    // False: there is none any more.
    bool next(RmmLine& line)
    {
        std::string_view text;
        bool whole = true;
        while (next_text(text, whole)) {
            ++number_;
            if (text.empty() || text == kRmmHead)
                continue; // a program that began to log again wrote the head again
            const std::string problem = read(text, line);
            if (problem.empty())
                return true;
            if (whole)
                throw Error(Exit::bad_input, fmt::format("{}:{}: {}", name_, number_, problem));
            cut_ = true;
        }
        return false;
    }
    bool cut() const noexcept { return cut_; } // in the last line

private:
    bool next_text(std::string_view& text, bool& whole)
    {
        std::size_t end = buffer_.find('\n', at_);
        if (end == std::string::npos && !ended_) {
            buffer_.erase(0, at_);
            at_ = 0;
            const std::size_t left = buffer_.size();
            constexpr std::size_t kRead = 64 * 1024;
            buffer_.resize(left + kRead);
            const std::size_t got = read_file(descriptor_, offset_, buffer_.data() + left, kRead);
            buffer_.resize(left + got);
            offset_ += got;
            ended_ = got < kRead;
            end = buffer_.find('\n');
        }
        if (at_ == buffer_.size())
            return false;
        whole = end != std::string::npos;
        const std::size_t length = (whole ? end : buffer_.size()) - at_;
        if (length > kMostLine)
            throw Error(Exit::bad_input, fmt::format("{}:{}: a line of more than {} bytes", name_,
                                                     number_ + 1, kMostLine));
        text = std::string_view(buffer_).substr(at_, length);
        at_ += length + (whole ? 1 : 0);
        if (text.ends_with('\r'))
            text.remove_suffix(1);
        return true;
    }

    // Empty: it is as it should be.
    static std::string read(std::string_view text, RmmLine& line)
    {
        std::array<std::string_view, 6> cells;
        const auto commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
        if (commas != cells.size() - 1)
            return fmt::format("{} values where there should be 6", commas + 1);
        for (std::string_view& cell : cells) {
            cell = text.substr(0, text.find(','));
            text.remove_prefix(std::min(text.size(), cell.size() + 1));
        }
        const auto thread = number_in(cells[0]);
        const auto us = time_in(cells[1]);
        const auto action = action_in(cells[2]);
        const auto pointer = number_in(cells[3]);
        const auto bytes = number_in(cells[4]);
        const auto stream = number_in(cells[5]);
        constexpr std::array kWords{"thread", "time", "action", "pointer", "size", "stream"};
        const bool good[] = {thread.has_value(),  us.has_value(),    action.has_value(),
                             pointer.has_value(), bytes.has_value(), stream.has_value()};
        for (std::size_t at = 0; at < kWords.size(); ++at)
            if (!good[at])
                return fmt::format("this is no {}", kWords[at]);
        line = {*thread, *us, *action, *pointer, *bytes, *stream};
        return {};
    }

    int descriptor_;
    const std::string& name_;
    std::string buffer_;
    std::size_t at_ = 0;
    std::uint64_t offset_ = 0; // in the file, of the buffer's end
    std::uint64_t number_ = 0; // the line's, from 1 on
    bool ended_ = false;
    bool cut_ = false;
};

// Times go on over midnight. Lines stand in the order in which things happened, and no two at once.
class RmmClock {
public:
    std::uint64_t ticks(std::uint64_t us)
    {
        constexpr std::uint64_t kDay = 24ull * 3600 * 1'000'000;
        if (!begun_)
            first_ = last_us_ = us;
        begun_ = true;
        if (us + kDay / 2 < last_us_)
            days_ += kDay;
        last_us_ = us;
        const std::uint64_t now = us + days_;
        const std::uint64_t since = now > first_ ? now - first_ : 0;
        return last_ = std::max(last_ + 1, kRmmFirst + 1000 * since);
    }
    std::uint64_t last() const noexcept { return last_; }

private:
    bool begun_ = false;
    std::uint64_t first_ = 0;
    std::uint64_t days_ = 0;
    std::uint64_t last_us_ = 0;
    std::uint64_t last_ = kRmmStart;
};

class RmmLog {
public:
    explicit RmmLog(LogWriter& log) : log_(log) {}

    // Blocks that are freed and were never allocated in the recording are older than it.
    void find_older(RmmReader reader)
    {
        RmmLine line;
        while (reader.next(line)) {
            if (line.action == RmmAction::allocate && line.pointer != 0)
                live_[line.pointer] = line.bytes;
            if (line.action == RmmAction::free && line.pointer != 0 &&
                live_.erase(line.pointer) == 0)
                older_.try_emplace(line.pointer, line);
        }
        live_.clear();
        for (const auto& [pointer, first] : older_)
            allocate(lane_of(first.thread), kRmmStart, first);
    }

    bool write(RmmReader& reader)
    {
        RmmLine line;
        while (reader.next(line)) {
            const std::uint64_t ticks = clock_.ticks(line.us);
            const std::uint32_t lane = lane_of(line.thread);
            ++events_;
            if (line.action == RmmAction::failure)
                fail(lane, ticks, line.bytes);
            else if (line.pointer == 0)
                continue; // nothing was asked for
            else if (line.action == RmmAction::allocate)
                allocate(lane, ticks, line);
            else
                free(lane, ticks, line.pointer);
        }
        return reader.cut();
    }

    std::uint64_t events() const noexcept { return events_; }
    std::uint64_t older() const noexcept { return older_.size(); }

private:
    std::uint32_t lane_of(std::uint64_t thread)
    {
        constexpr std::uint32_t kMostLanes = 4096; // each has a chunk in memory
        const auto [lane, added] =
            lanes_.try_emplace(thread, static_cast<std::uint32_t>(lanes_.size() + 1));
        if (lane->second > kMostLanes)
            lane->second = kMostLanes;
        if (added)
            log_.name_lane(lane->second, std::to_string(thread));
        return lane->second;
    }

    void allocate(std::uint32_t lane, std::uint64_t ticks, const RmmLine& line)
    {
        format::Place place;
        place.device = 0;
        place.stream = line.stream;
        log_.alloc(lane, {kRmmAlloc, ticks, line.pointer, line.bytes, 0, Memory::device, false, 0},
                   place);
        live_[line.pointer] = line.bytes;
        allocated_ += line.bytes;
    }

    void free(std::uint32_t lane, std::uint64_t ticks, std::uint64_t pointer)
    {
        log_.free(lane, {kRmmFree, ticks, pointer, 0});
        if (const auto block = live_.find(pointer); block != live_.end()) {
            allocated_ -= block->second;
            live_.erase(block);
        }
    }

    void fail(std::uint32_t lane, std::uint64_t ticks, std::uint64_t bytes)
    {
        const format::Moment moment{ticks, kRmmAlloc};
        log_.add(lane, moment, format::Failed{kRmmOutOfMemory, 0, bytes, 0});
        log_.add(lane, moment, format::OutOfMemory{{0}, bytes, 0, 0, allocated_, 0, 0});
    }

    LogWriter& log_;
    RmmClock clock_;
    std::unordered_map<std::uint64_t, std::uint64_t> live_; // bytes by address
    std::map<std::uint64_t, RmmLine> older_;
    std::map<std::uint64_t, std::uint32_t> lanes_;
    std::uint64_t allocated_ = 0;
    std::uint64_t events_ = 0;
};

} // namespace

bool is_rmm_log(std::string_view head) noexcept
{
    return head.starts_with(kRmmHead);
}

bool write_rmm_log(int recording, const std::string& name, const std::string& program,
                   int descriptor, Imported& imported)
{
    imported.what = "RMM log";
    LogWriter log(descriptor, kRmmStart);
    log.name_lane(kRmmDefinitions, "imported");
    const auto info = [&](std::string_view key, std::string_view value) {
        log.add(kRmmDefinitions, {}, format::Info{key, value});
    };
    info("program", program);
    info("imported", imported.what);
    log.add(kRmmDefinitions, {},
            format::Api{kRmmAlloc, Effect::alloc, Memory::device, "rmm allocate"});
    log.add(kRmmDefinitions, {}, format::Api{kRmmFree, Effect::free, Memory::device, "rmm free"});
    RmmLog events(log);
    events.find_older({recording, name});
    RmmReader reader(recording, name);
    const bool cut = events.write(reader);
    imported.events = events.events();
    imported.older_blocks = events.older();
    imported.unknown.emplace_back(
        "a log of RMM has no call stacks, no devices and no date, and what other allocators had is "
        "not in it: all of it is shown as of device 0");
    if (events.older() > 0)
        imported.unknown.push_back(fmt::format("{} blocks are older than the log: when they were "
                                               "allocated is not known",
                                               events.older()));
    if (cut)
        imported.unknown.emplace_back("the last line is cut: what came last was not written");
    for (const std::string& sentence : imported.unknown)
        info("imported.unknown", sentence);
    return log.finish();
}

} // namespace vramscope::report
