// report/findings/places/suppressions.hpp — which leaks are known, and not to be told as leaks.
//
// User rules have LeakSanitizer's grammar and meaning: `leak:PATTERN`, looked for in the module,
// the function and the file of each frame, from the API that the program called outwards. Built-in
// rules name a library of NVIDIA's whose own code allocates; none covers what repeats or grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/suppressions.hpp"

namespace vramscope::report {

// As LeakSanitizer matches: PATTERN is anywhere in the text, `*` is any text, `^` ties it to the
// beginning, `$` to the end. What stands behind a `*` is looked for at its first place only.
bool matches(std::string_view pattern, std::string_view text) noexcept;

class Suppressions {
public:
    using Rule = std::size_t; // index into rules()

    // Error (usage), with file and line, where it cannot be read or holds anything but rules,
    // comments and blank lines. A file that was added before is not read again.
    void add_file(const std::filesystem::path& path);
    void add_text(std::string_view text, const std::string& source);
    void add_built_in();

    const std::vector<SuppressionRule>& rules() const noexcept { return rules_; }

    // The first user rule that is in the name of a function, or in the frames of one address.
    std::optional<Rule> match(std::string_view function) const;
    std::optional<Rule> match(const std::vector<Frame>& frames) const;
    // Of the innermost frame that a reader sees, which called this.
    std::optional<Rule> match_built_in(const Frame& frame, std::string_view api) const;
    // Of the frames of one address: functions that take memory for such a library.
    std::optional<Rule> match_built_in_function(const std::vector<Frame>& frames) const;

private:
    std::vector<SuppressionRule> rules_; // the user's rules come first
    std::size_t user_rules_ = 0;
};

// "cuBLAS", of NVIDIA's libraries that keep memory of their own: the library of this file, and the
// one for which a function of another takes memory. Empty: none.
std::string_view library_of(std::string_view module) noexcept;
std::string_view library_taken_for(const std::vector<Frame>& frames) noexcept;

struct Report;

// Moves known leaks and imports of a report to Report::suppressed. Their rules are then indexes
// into Report::suppressions. Growth that is known goes.
void suppress(Report& report, const Suppressions& suppressions);

} // namespace vramscope::report
