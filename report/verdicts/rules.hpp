// report/verdicts/rules.hpp — the kinds of finding, as tools that show findings know them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::report {

// The identifier is the word of --fail-on, or the name of the budget's option.
struct ProblemRule {
    const char* id;
    const char* name;
    const char* what; // a sentence
    const char* help; // what to do about it
    // "2 MiB in 2 blocks was not freed"; null: a budget, which has words of its own.
    std::string (*amount)(std::uint64_t bytes, std::uint64_t count);
};

inline constexpr std::size_t kRules = 12;
extern const std::array<ProblemRule, kRules> kRuleTable;

const ProblemRule& rule_of(std::string_view id); // one of the table's

} // namespace vramscope::report
