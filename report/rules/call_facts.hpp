// report/rules/call_facts.hpp — which conditions the call stacks of a log meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/findings/places/stack_reader.hpp"
#include "report/rules/rule.hpp"

namespace vramscope::report {

// A call whose conditions are asked for.
struct RuleCallKey {
    std::uint64_t stack = 0;
    std::uint64_t api = 0;
    std::uint64_t ticks = 0;
};

// Each stack is read once, and each name is searched once. Memory grows with stacks.
class CallFacts {
public:
    explicit CallFacts(StackReader& stacks) : stacks_(stacks) {} // it outlives this

    // A condition of a call stack, as it stands: whether `not` is before it is the caller's affair.
    bool meets(const Condition& condition, const RuleCallKey& call);

private:
    using Answers = std::map<const Condition*, bool>;

    bool ask(const Condition& condition, const RuleCallKey& call);
    bool has_function(const Condition& condition, const CallPlace& place);

    StackReader& stacks_;
    std::unordered_map<std::uint64_t, Answers> answers_; // by stack
    std::map<const Condition*, std::unordered_map<std::string, bool>> functions_;
};

} // namespace vramscope::report
