// report/replay/searches.hpp — what the last search of a program's memory found of its blocks.
//
// Feed it every record of a LogReader; or what a search found that is in no log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::report {

struct LoggedSearch {
    std::uint64_t ticks = 0; // when it began
    std::uint64_t bytes = 0;
    bool stopped = false;
    std::string doubts;
};

struct LoggedReach {
    std::uint64_t api = 0;
    std::uint64_t stack = 0;
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1;
    format::Reach reach = format::Reach::open;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::string chain;
};

class Searches {
public:
    // True where the record begins a search.
    bool apply(const Record& record)
    {
        if (const auto searched = record.as<format::Searched>()) {
            begin(record.ticks, *searched);
            return true;
        }
        if (const auto reached = record.as<format::Reached>())
            add(*reached);
        return false;
    }

    void begin(std::uint64_t ticks, const format::Searched& searched)
    {
        last_ = {ticks, searched.bytes, searched.stopped, std::string(searched.doubts)};
        found_.clear();
    }
    void add(const format::Reached& reached)
    {
        constexpr std::size_t kMost = 100'000;
        if (found_.size() < kMost)
            found_.push_back({reached.api, reached.stack, reached.memory,
                              static_cast<std::int32_t>(reached.device), reached.reach,
                              reached.bytes, reached.blocks, std::string(reached.chain)});
    }

    const std::optional<LoggedSearch>& last() const noexcept { return last_; }
    const std::vector<LoggedReach>& found() const noexcept { return found_; }

    auto state() noexcept { return std::tie(last_, found_); } // see report/checkpoint

private:
    std::optional<LoggedSearch> last_;
    std::vector<LoggedReach> found_;
};

} // namespace vramscope::report
