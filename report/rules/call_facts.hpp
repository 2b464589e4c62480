// report/rules/call_facts.hpp — which conditions a block and its call stack meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "report/findings/places/stack_reader.hpp"
#include "report/rules/rule.hpp"

namespace vramscope::report {

// The call that made a block or ended it, and what the block is.
struct BlockCall {
    std::uint64_t stack = 0;
    std::uint64_t api = 0;
    std::uint64_t ticks = 0;
    std::int32_t device = -1;
    format::Memory memory = format::Memory::none;
};

// Each condition is asked of a stack once, and each expression of a name. Memory grows with stacks.
class CallFacts {
public:
    explicit CallFacts(StackReader& stacks) : stacks_(stacks) {} // gives all frames, outlives this

    // A condition that an owner may have, as it stands: `not` before it is the caller's affair.
    bool meets(const Condition& condition, const BlockCall& call);

private:
    bool ask(const Condition& condition, const BlockCall& call);
    bool has_function(const Condition& condition, const CallPlace& place);

    StackReader& stacks_;
    std::unordered_map<std::uint64_t, std::map<const Condition*, bool>> answers_; // by stack
    std::map<const Condition*, std::unordered_map<std::string, bool>> functions_;
    // What was read last: several conditions are asked of one stack, one after the other.
    std::optional<CallPlace> place_;
    std::uint64_t stack_ = 0;
};

} // namespace vramscope::report
