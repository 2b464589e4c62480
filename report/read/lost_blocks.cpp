// report/read/lost_blocks.cpp — one row per stack, entry point, memory, device and fate.
#include "report/read/lost_blocks.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

void keep_common(std::vector<std::string>& common, const std::vector<std::string>& other)
{
    const auto differ = std::mismatch(common.begin(), common.end(), other.begin(), other.end());
    common.erase(differ.first, common.end());
}

} // namespace

void LostSums::add(const Block& block, Fate fate)
{
    auto [at, first] =
        groups_.try_emplace({block.stack, block.api, block.memory, block.device, fate});
    LostBlocks& sum = at->second.sum;
    if (first) {
        sum.fate = fate;
        sum.memory = block.memory;
        sum.device = block.device;
        sum.api = block.api;
        sum.stack = block.stack;
        sum.first_ticks = block.ticks;
        sum.phase = phases_.path(block.phase);
    } else if (block.phase != at->second.last_phase) {
        const std::vector<std::string> path = phases_.path(block.phase);
        sum.phases_differ = sum.phases_differ || path != sum.phase;
        keep_common(sum.phase, path);
    }
    phases_.hold(block.phase);
    phases_.release(std::exchange(at->second.last_phase, block.phase));
    sum.bytes += block.bytes;
    ++sum.blocks;
    sum.shared_blocks += block.shared;
    sum.first_ticks = std::min(sum.first_ticks, block.ticks);
    sum.last_ticks = std::max(sum.last_ticks, block.ticks);
    const auto place = std::lower_bound(sum.threads.begin(), sum.threads.end(), block.thread);
    if (place == sum.threads.end() || *place != block.thread)
        sum.threads.insert(place, block.thread);
}

std::vector<LostBlocks> LostSums::sums() const
{
    std::vector<LostBlocks> sums;
    sums.reserve(groups_.size());
    for (const auto& [key, group] : groups_)
        sums.push_back(group.sum);
    return sums;
}

} // namespace vramscope::report
