// report/rules/rule_outcomes.cpp — what is told of each rule, once all was held against it.
#include <algorithm>

#include <fmt/format.h>

#include "report/model/call_place.hpp"
#include "report/model/process.hpp"
#include "report/rules/rule_watch.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostRuleCalls = 8; // that are told of a rule

// What older logs do not tell of; empty: they do.
const char* needs_record_of(const Rule& rule) noexcept
{
    if (rule.forbidden == RuleEvent::context || rule.counted == format::Memory::context)
        return "contexts";
    const bool of_objects = rule.counted ? is_object(*rule.counted)
                                         : rule.forbidden && *rule.forbidden >= RuleEvent::stream &&
                                               *rule.forbidden <= RuleEvent::library;
    return of_objects ? "objects" : "";
}

} // namespace

std::vector<RuleOutcome> RuleWatch::outcomes(StackReader& shown)
{
    std::vector<RuleOutcome> outcomes;
    for (std::size_t number = 0; number < states_.size(); ++number) {
        const Rule& rule = rules_.rules[number];
        State& state = states_[number];
        RuleOutcome outcome{.name = rule.name, .limit = rule.forbidden ? 0 : rule.limit};
        outcome.of_bytes = !rule.forbidden && rule.quantity != RuleQuantity::count_live;
        outcome.measured =
            !rule.forbidden && rule.quantity == RuleQuantity::live ? state.live : state.measured;
        if (outcome.measured > outcome.limit) {
            state.is_most = state.is_most || rule.forbidden || rule.quantity == RuleQuantity::live;
            state.keep_the_most();
            outcome.calls = calls_of(state.at_most, outcome.of_bytes, shown);
        } else {
            outcome.never = why_never(number);
            if (state.blind && std::ranges::any_of(rule.all_of, [](const Condition& one) {
                    return one.kind == ConditionKind::capture;
                }))
                outcome.unknown = "blocks that an allocator of the program's cuts do not say "
                                  "whether a stream was captured";
            if (const char* const what = needs_record_of(rule);
                *what && !records(tables_.info_value("recorded"), what))
                outcome.unknown = fmt::format("{} are not recorded in this log", what);
        }
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

// Whether nothing in the log has the name. A word of the grammar and a device are no names.
bool RuleWatch::may_be_a_slip(const Condition& condition) const
{
    switch (condition.kind) {
    case ConditionKind::capture:
    case ConditionKind::memory:
    case ConditionKind::device:
        return false;
    case ConditionKind::module:
        return std::ranges::none_of(tables_.modules(), [&](const Module& module) {
            return glob_matches(condition.text, file_name(module.id.path));
        });
    default:
        return true;
    }
}

// What is negated is an exception, and need not be there.
std::string RuleWatch::why_never(std::size_t rule) const
{
    const std::vector<Condition>& conditions = rules_.rules[rule].all_of;
    for (std::size_t at = 0; at < conditions.size(); ++at) {
        const Condition& one = conditions[at];
        if (one.negated)
            continue;
        if (has_pattern(one.kind)) {
            const NamedSteps::Pattern pattern = patterns_.at(&one);
            const bool is_mark =
                one.kind == ConditionKind::after_mark || one.kind == ConditionKind::until_mark;
            if (one.kind == ConditionKind::first && steps_.ended(pattern) < one.number)
                return fmt::format("fewer than {} steps of \"{}\" ended", one.number, one.text);
            if (is_mark && steps_.marks(pattern) == 0)
                return fmt::format("no mark \"{}\" came", one.text);
            if (one.kind == ConditionKind::range && !steps_.was_open(pattern))
                return fmt::format("no range \"{}\" was opened", one.text);
        } else if (!states_[rule].met[at] && may_be_a_slip(one)) {
            return "no call was one that it speaks of";
        }
    }
    return {};
}

std::vector<RuleCall> RuleWatch::calls_of(std::vector<Sum>& sums, bool by_bytes, StackReader& shown)
{
    std::ranges::sort(sums, [&](const Sum& a, const Sum& b) {
        const auto rank = [&](const Sum& sum) { return by_bytes ? sum.bytes : sum.count; };
        return rank(a) != rank(b) ? rank(a) > rank(b) : a.call.ticks < b.call.ticks;
    });
    std::vector<RuleCall> calls;
    for (std::size_t at = 0; at < std::min(sums.size(), kMostRuleCalls); ++at) {
        const BlockCall& call = sums[at].call;
        calls.push_back(
            {shown.read_row(call.api, call.stack, call.ticks), sums[at].bytes, sums[at].count});
    }
    return calls;
}

} // namespace vramscope::report
