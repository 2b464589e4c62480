// report/replay/heap/live_sums.cpp — sums in all, and per context of what dies with it.
#include "report/replay/heap/live_sums.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

struct Bytes {
    std::uint64_t device = 0;
    std::uint64_t host = 0;
};

Bytes bytes_of(const Block& block) noexcept
{
    switch (class_of(block.memory)) {
    case format::MemoryClass::device:
        return {.device = block.bytes};
    case format::MemoryClass::host:
        return {.host = block.bytes};
    default:
        return {};
    }
}

} // namespace

std::optional<std::uint32_t> LiveSums::find(std::uint64_t context_id) const
{
    const auto found = index_of_id_.find(context_id);
    return found == index_of_id_.end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t LiveSums::look_up(std::uint64_t context_id)
{
    const auto [found, added] =
        index_of_id_.try_emplace(context_id, static_cast<std::uint32_t>(contexts_.size()));
    if (added)
        contexts_.emplace_back();
    last_id_ = context_id;
    return last_index_ = found->second;
}

void LiveSums::place(Block& block, std::uint64_t context_id)
{
    block.context = index_of(context_id);
    block.context_life = contexts_[block.context].life;
}

void LiveSums::enter(const Block& block)
{
    const Bytes bytes = bytes_of(block);
    device_bytes_ += bytes.device;
    host_bytes_ += bytes.host;
    peak_device_bytes_ = std::max(peak_device_bytes_, device_bytes_);
    peak_host_bytes_ = std::max(peak_host_bytes_, host_bytes_);
    if (block.mortal) {
        Context& context = contexts_[block.context];
        context.device_bytes += bytes.device;
        context.host_bytes += bytes.host;
        ++context.blocks;
    }
}

void LiveSums::leave(const Block& block)
{
    const Bytes bytes = bytes_of(block);
    device_bytes_ -= bytes.device;
    host_bytes_ -= bytes.host;
    if (block.mortal) {
        Context& context = contexts_[block.context];
        context.device_bytes -= bytes.device;
        context.host_bytes -= bytes.host;
        --context.blocks;
    }
}

std::uint32_t LiveSums::destroy(std::uint64_t context_id, std::uint64_t ticks)
{
    const std::uint32_t index = index_of(context_id);
    Context& context = contexts_[index];
    if (exit_began_ticks_ != 0 && ticks >= exit_began_ticks_)
        context.first_life_ended_by_exit = std::min(context.first_life_ended_by_exit, context.life);
    ++context.life;
    device_bytes_ -= std::exchange(context.device_bytes, 0);
    host_bytes_ -= std::exchange(context.host_bytes, 0);
    dead_blocks_ += std::exchange(context.blocks, 0);
    return index;
}

bool LiveSums::context_is_gone(const Block& block) const noexcept
{
    return block.context_life < contexts_[block.context].life;
}

bool LiveSums::is_dead(const Block& block) const noexcept
{
    return block.mortal && context_is_gone(block);
}

Fate LiveSums::fate_of(const Block& block) const noexcept
{
    if (!is_dead(block))
        return Fate::kept;
    const bool by_exit = block.context_life >= contexts_[block.context].first_life_ended_by_exit;
    return by_exit ? Fate::context_gone_at_exit : Fate::context_gone;
}

bool LiveSums::rebuild()
{
    if (!index_of_id_.empty())
        look_up(index_of_id_.begin()->first);
    return index_of_id_.empty() == contexts_.empty() &&
           std::all_of(index_of_id_.begin(), index_of_id_.end(),
                       [this](const auto& one) { return one.second < contexts_.size(); });
}

} // namespace vramscope::report
