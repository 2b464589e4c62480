// report/replay/heap/lost_blocks.cpp — one row per stack, entry point, memory, device and fate.
#include "report/replay/heap/lost_blocks.hpp"

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

void LostBlocks::add(const Block& block)
{
    if (blocks == 0) {
        memory = block.memory;
        device = block.device;
        api = block.api;
        stack = block.stack;
        first_ticks = block.ticks;
    }
    bytes += block.bytes;
    ++blocks;
    shared_blocks += block.shared;
    first_ticks = std::min(first_ticks, block.ticks);
    last_ticks = std::max(last_ticks, block.ticks);
}

void add_name(std::vector<std::string>& names, const std::string& name)
{
    constexpr std::size_t kMost = 16;
    const auto place = std::lower_bound(names.begin(), names.end(), name);
    if (place == names.end() || *place != name)
        names.insert(place, name);
    if (names.size() > kMost)
        names.pop_back();
}

void LostSums::add(const Block& block, Fate fate, const std::string& name)
{
    if (block.ticks < since_ticks_)
        return;
    auto [at, first] =
        groups_.try_emplace({block.stack, block.api, block.memory, block.device, fate});
    LostBlocks& sum = at->second.sum;
    if (first) {
        sum.fate = fate;
        sum.phase = phases_.path(block.phase);
    } else if (block.phase != at->second.last_phase) {
        const std::vector<std::string> path = phases_.path(block.phase);
        sum.phases_differ = sum.phases_differ || path != sum.phase;
        keep_common(sum.phase, path);
    }
    phases_.hold(block.phase);
    phases_.release(std::exchange(at->second.last_phase, block.phase));
    sum.add(block);
    if (!name.empty())
        add_name(sum.names, name);
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
