// report/rules/call_facts.cpp — what a block is, and the names of a stack against patterns.
#include "report/rules/call_facts.hpp"

#include <algorithm>

namespace vramscope::report {

bool CallFacts::meets(const Condition& condition, const BlockCall& call)
{
    if (condition.kind == ConditionKind::memory)
        return condition.memory == call.memory;
    if (condition.kind == ConditionKind::device)
        return static_cast<std::int64_t>(condition.number) == call.device;
    if (call.stack == 0)
        return false;
    const auto [answer, is_new] = answers_[call.stack].try_emplace(&condition, false);
    if (is_new)
        answer->second = ask(condition, call);
    return answer->second;
}

bool CallFacts::ask(const Condition& condition, const BlockCall& call)
{
    if (!place_ || stack_ != call.stack)
        place_ = stacks_.read(call.api, call.stack, call.ticks);
    stack_ = call.stack;
    const CallPlace& place = *place_;
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
