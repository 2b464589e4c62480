// report/rules/named_steps.hpp — ranges and marks whose names a pattern fits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::report {

// Memory grows with open ranges. Feed it every record of a log.
class NamedSteps {
public:
    using Pattern = std::size_t;

    // Before the first record.
    Pattern watch(std::string_view glob);
    void apply(const Record& record);

    bool is_open(Pattern pattern, std::uint32_t thread) const; // around this thread's calls
    bool was_open(Pattern pattern) const { return patterns_[pattern].began > 0; }
    std::uint64_t marks(Pattern pattern) const { return patterns_[pattern].marks; }
    // How many steps have ended: ranges, or the time up to a mark.
    std::uint64_t ended(Pattern pattern) const
    {
        return patterns_[pattern].ended + patterns_[pattern].marks;
    }

private:
    void push(std::uint32_t thread, std::string_view name);
    void pop(std::uint32_t thread);

    struct Counts {
        std::string glob;
        std::uint64_t began = 0;
        std::uint64_t ended = 0;
        std::uint64_t marks = 0;
        std::unordered_map<std::uint32_t, std::uint64_t> open{}; // by thread
    };

    std::vector<Counts> patterns_;
    static constexpr std::size_t kMostOpen = 4096; // of a thread; those within are not looked at
    struct Open {
        std::vector<std::vector<Pattern>> ranges; // what each fits
        std::uint64_t too_deep = 0;
    };

    std::unordered_map<std::uint32_t, Open> threads_;
};

} // namespace vramscope::report
