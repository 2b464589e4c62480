// report/replay/contexts.hpp — the contexts of a log: who opened each, and what ended it.
//
// Feed it every rare record of a LogReader. The first kMostContexts are kept: a log can name any
// number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "report/log/chunk_cursor.hpp"
#include "report/replay/misuse.hpp"

namespace vramscope::report {

struct LoggedContext {
    std::int64_t device = -1; // -1: not known
    bool primary = false;
    struct Opened {
        LoggedCall call; // kNoApi: it was seen outside of any call
        std::uint32_t thread = 0;
        format::Opening opening = format::Opening::seen;
        std::uint64_t free_before = 0; // 0: not known, as the other two
        std::uint64_t free_after = 0;
        std::uint64_t total = 0;
    };
    std::optional<Opened> opened;    // none: the log does not say
    std::optional<LoggedCall> ended; // none: not before the log's end
};

class Contexts {
public:
    static constexpr std::size_t kMostContexts = 10'000;

    void apply(const Record& record);
    // By their ids, which are given in the order in which they are first known.
    const std::map<std::uint64_t, LoggedContext>& all() const noexcept { return contexts_; }

    auto state() noexcept { return std::tie(contexts_); } // see report/checkpoint
    bool rebuild() const noexcept { return contexts_.size() <= kMostContexts; }

private:
    LoggedContext* find_or_add(std::uint64_t id);

    std::map<std::uint64_t, LoggedContext> contexts_;
};

} // namespace vramscope::report
