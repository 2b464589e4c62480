// report/plan/policies/by_block.hpp — what is known of each block, in a vector by BlockId.
#pragma once

#include <algorithm>
#include <vector>

#include "report/plan/trace/trace.hpp"

namespace vramscope::report::plan {

// The block's entry; blocks are numbered in the order of birth, so it grows at its end.
template <typename Value>
Value& entry_of(std::vector<Value>& values, BlockId block)
{
    if (block >= values.size()) {
        if (block >= values.capacity())
            values.reserve(std::max<std::size_t>(block + std::size_t{1}, 2 * values.capacity()));
        values.resize(block + std::size_t{1});
    }
    return values[block];
}

// Has the policy allocate each block that lived before the first request, as if it were asked for
// now: for policies that take nothing over from the allocator that was recorded.
template <typename AnyPolicy>
bool allocate_start_blocks(AnyPolicy& policy, const std::vector<StartSegment>& segments)
{
    for (const StartSegment& segment : segments)
        for (const StartBlock& block : segment.blocks)
            if (!policy.allocate({.bytes = block.bytes,
                                  .block = block.block,
                                  .stream = segment.stream,
                                  .pool = segment.pool}))
                return false;
    return true;
}

} // namespace vramscope::report::plan
