// report/rules/call_facts.cpp — the names of a stack against patterns.
#include "report/rules/call_facts.hpp"

#include <algorithm>

namespace vramscope::report {

bool CallFacts::meets(const Condition& condition, const RuleCallKey& call)
{
    const auto [answer, is_new] = answers_[call.stack].try_emplace(&condition, false);
    if (is_new)
        answer->second = ask(condition, call);
    return answer->second;
}

bool CallFacts::ask(const Condition& condition, const RuleCallKey& call)
{
    const CallPlace place = stacks_.read(call.api, call.stack, call.ticks);
    switch (condition.kind) {
    case ConditionKind::module:
        return glob_matches(condition.text, place.module);
    case ConditionKind::file:
        return std::ranges::any_of(place.stack, [&](const Frame& frame) {
            return path_matches(condition.text, frame.file);
        });
    default:
        return has_function(condition, place);
    }
}

bool CallFacts::has_function(const Condition& condition, const CallPlace& place)
{
    auto& known = functions_[&condition];
    return std::ranges::any_of(place.stack, [&](const Frame& frame) {
        const auto [answer, is_new] = known.try_emplace(frame.function, false);
        if (is_new)
            answer->second = std::regex_search(frame.function, *condition.expression);
        return answer->second;
    });
}

} // namespace vramscope::report
