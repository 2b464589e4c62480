// report/model/suppressions.hpp — rules for known leaks, and how much each rule suppressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vramscope::report {

struct SuppressionRule {
    std::string pattern;
    std::string source; // the file as it was named; empty: built in
    std::size_t line = 0;
    std::string why; // built in: what memory that is

    bool built_in() const noexcept { return source.empty(); }
    std::string text() const { return built_in() ? pattern : "leak:" + pattern; }
};

// What one rule suppressed.
struct RuleUse {
    SuppressionRule rule;
    std::uint64_t rows = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};

} // namespace vramscope::report
