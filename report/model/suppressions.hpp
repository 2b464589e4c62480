// report/model/suppressions.hpp — rules for known leaks, and how much each rule suppressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/model/fields.hpp"

namespace vramscope::report {

// Of a rule that is built in: what it is about.
enum class KnownTo {
    need,  // memory that a library takes, and keeps as long as the process lives
    keep,  // pinned memory that was freed, for later: any number of blocks
    share, // streams, of which so many are made once, whatever asks for one
};

struct SuppressionRule {
    std::string pattern;
    std::string source; // the file as it was named; empty: built in
    std::size_t line = 0;
    std::string why; // built in: what that is
    KnownTo known = KnownTo::need;

    bool built_in() const noexcept { return source.empty(); }
    std::string text() const { return built_in() ? pattern : "leak:" + pattern; }
};

// What one rule suppressed.
struct RuleUse {
    SuppressionRule rule;
    std::uint64_t rows = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t objects = 0; // of the driver's: they have no bytes

    bool is_the_users() const noexcept { return !rule.built_in(); }
};
template <>
struct Fields<RuleUse> {
    static constexpr const char* kName = "suppression";
    static constexpr auto rule = &RuleUse::rule;
    static constexpr FieldList kAll{
        Field{"rule", Via{rule, &SuppressionRule::text},
              "leak:PATTERN; of a built-in rule the pattern of its library's name."},
        Field{"source", OrNull{Via{rule, &SuppressionRule::source}},
              "The file, as it was named; null: built in."},
        Field{"line", When{&RuleUse::is_the_users, Via{rule, &SuppressionRule::line}}}.at_least(1),
        Field{"why", OrNull{Via{rule, &SuppressionRule::why}},
              "Of a built-in rule: what memory that is."},
        Field{"rows", &RuleUse::rows},
        Field{"blocks", &RuleUse::blocks},
        Field{"bytes", &RuleUse::bytes},
        Field{"objects", &RuleUse::objects,
              "Of the driver's, that were left or piled up: they are no blocks."}
            .since(6),
    };
};

} // namespace vramscope::report
