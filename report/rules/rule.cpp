// report/rules/rule.cpp — patterns, and which rules need no events.
#include "report/rules/rule.hpp"

#include <algorithm>

namespace vramscope::report {

// Where a `*` came last, it takes one character more each time that the rest does not fit.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept
{
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = pattern.npos;
    std::size_t taken = 0;
    while (in < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = in;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in])) {
            ++at;
            ++in;
        } else if (star != pattern.npos) {
            at = star + 1;
            in = ++taken;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*')
        ++at;
    return at == pattern.size();
}

bool path_matches(std::string_view pattern, std::string_view path) noexcept
{
    if (pattern.find('/') == pattern.npos)
        path.remove_prefix(path.rfind('/') + 1);
    return glob_matches(pattern, path);
}

bool is_told_by_sums(const Rule& rule) noexcept
{
    const bool is_summed = rule.forbidden ? *rule.forbidden != RuleEvent::driver_alloc &&
                                                *rule.forbidden != RuleEvent::free
                                          : rule.quantity == RuleQuantity::live;
    return is_summed && std::ranges::all_of(rule.all_of, [](const Condition& one) {
               return one.kind >= ConditionKind::memory;
           });
}

} // namespace vramscope::report
