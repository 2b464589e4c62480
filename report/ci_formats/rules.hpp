// report/ci_formats/rules.hpp — the kinds of finding and the budgets as rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

const std::vector<ProblemRule>& problem_rules(); // the kinds of finding first

const ProblemRule& rule_of(std::string_view id); // one of these

} // namespace vramscope::report
