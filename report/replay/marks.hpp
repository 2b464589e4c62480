// report/replay/marks.hpp — the named moments of a log.
//
// Feed it every record of a LogReader. The first kMostMarks are kept, all are counted: a program
// that marks each step of a long run must not fill the reader's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostMarks = 1000;

struct LoggedMark {
    std::uint64_t ticks = 0;
    std::uint32_t thread = 0; // index
    std::string name;
};

class Marks {
public:
    void apply(const Record& record)
    {
        const auto mark = record.as<format::Mark>();
        if (!mark)
            return;
        ++count_;
        if (kept_.size() < kMostMarks)
            kept_.push_back({record.ticks, record.thread, std::string(mark->name)});
    }

    const std::vector<LoggedMark>& kept() const noexcept { return kept_; } // in order of time
    std::uint64_t count() const noexcept { return count_; }

    auto state() noexcept { return std::tie(kept_, count_); } // see report/checkpoint

private:
    std::vector<LoggedMark> kept_;
    std::uint64_t count_ = 0;
};

} // namespace vramscope::report
