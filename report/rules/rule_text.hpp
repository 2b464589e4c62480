// report/rules/rule_text.hpp — a line of a file of rules, word by word.
//
// What it says of a mistake has the place and none of the line's words: it may be another file,
// which is nobody's to see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "tracker/format/memory.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostRuleName = 64;

class RuleText {
public:
    // `place`: of the line, "rules.txt:3". The line outlives this.
    RuleText(std::string_view line, std::string place) : line_(line), place_(std::move(place)) {}

    std::size_t skip_space(); // where the next word begins
    bool at_end();            // or at a comment
    void go_back(std::size_t to) { at_ = to; }

    bool take(std::string_view word); // false: another is next
    std::string_view take_word();     // empty: there is none

    // Error (usage), with the column, unless the next is such a thing.
    std::string_view take_name();              // of a rule, and the colon behind it
    std::string take_text(const char* wanted); // in quotes, or a word without a space
    std::uint64_t take_number(const char* wanted);
    std::shared_ptr<const std::regex> take_expression();
    format::Memory take_kind();
    [[noreturn]] void refuse(std::size_t column, std::string_view what) const;

    static std::optional<std::uint64_t> whole(std::string_view word);

private:
    const std::string_view line_;
    const std::string place_;
    std::size_t at_ = 0;
};

} // namespace vramscope::report
