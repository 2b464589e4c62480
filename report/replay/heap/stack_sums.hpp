// report/replay/heap/stack_sums.hpp — what holds the live memory: blocks summed up by call stack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "report/replay/heap/lost_blocks.hpp"

namespace vramscope::report {

class StackSums {
public:
    void add(const Block& block)
    {
        stacks_[{block.stack, block.api, block.memory, block.device}].add(block);
    }

    // The largest; those beyond `most` are left out.
    std::vector<LostBlocks> largest(std::size_t most) const
    {
        std::vector<LostBlocks> sums;
        for (const auto& [key, sum] : stacks_)
            sums.push_back(sum);
        std::stable_sort(sums.begin(), sums.end(), [](const LostBlocks& a, const LostBlocks& b) {
            return std::tie(b.bytes, b.blocks) < std::tie(a.bytes, a.blocks);
        });
        sums.resize(std::min(sums.size(), most));
        return sums;
    }
    std::size_t stacks() const noexcept { return stacks_.size(); }

private:
    std::map<std::tuple<std::uint64_t, std::uint64_t, format::Memory, std::int32_t>, LostBlocks>
        stacks_;
};

} // namespace vramscope::report
