// report/replay/heap/heap_replay_ends.cpp — blocks that end without a free.
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

using format::KeySpace;
using format::Memory;

namespace {

// Dead blocks are swept out of the table when there are more of them than this, and when they are
// more than the live ones.
constexpr std::uint64_t kSweepAt = 4096;

} // namespace

void HeapReplay::destroy_context(const Record& record)
{
    const auto gone = record.as<format::ContextGone>();
    if (!gone || gone->context == 0)
        return; // 0: blocks of unknown contexts are not this one's
    const std::uint64_t id = gone->context;
    const std::span<const SiteLoss> losses = sites_.destroy(sums_.destroy(id, record.ticks));
    if (watch_)
        watch_->context_gone(losses, record.ticks);
    if (const auto found = context_handles_.find(id); found != context_handles_.end()) {
        const std::uint64_t key = key_of(Memory::context, found->second);
        if (const LiveBlocks::Found context = live_.find(key)) {
            finish_freed(*context, record.ticks);
            live_.erase(context);
        }
    }
    if (sums_.dead_blocks() > kSweepAt && sums_.dead_blocks() > live_.size() / 2)
        sweep();
}

// cuda.h does not say whether a context takes its registrations and its mappings of external memory
// along: where the address came again, it did.
bool HeapReplay::went_with_context(const Block& block) const noexcept
{
    return (block.memory == Memory::registered || block.memory == Memory::imported) &&
           sums_.context_is_gone(block);
}

// A block that will not be freed any more, as often as it was opened.
void HeapReplay::lose(const Block& block)
{
    if (block.memory != Memory::segment) // its blocks are lost, if any
        lost_.add(block, sums_.fate_of(block), name_of(block));
    phases_.release(block.phase);
}

void HeapReplay::sweep()
{
    live_.erase_if([this](const Block& block) {
        if (!sums_.is_dead(block))
            return false;
        lose(block);
        return true;
    });
    sums_.forget_dead(sums_.dead_blocks());
}

void HeapReplay::leave_in_flight()
{
    for (const auto& [key, free] : pending_) {
        const auto leave = [this, &pending = free](const Block& block) {
            in_flight_.push_back({pending, block});
            finish_gone(block, pending.ticks);
        };
        const KeySpace space = format::key_space(tables_.api(free.api)->memory);
        const LiveBlocks::Found block =
            space == KeySpace::physical ? LiveBlocks::Found() : live_.find(key);
        if (space == KeySpace::physical && physical_.hangs_on_one_release(free.address))
            physical_.forget_handle(free.address, leave);
        if (!block || sums_.is_dead(*block) || block->memory == Memory::graph ||
            block->ticks > free.ticks)
            continue;
        leave(*block);
        live_.erase(block);
    }
}

void HeapReplay::finish()
{
    leave_in_flight();
    live_.for_each([this](const Block& block) {
        if (block.memory != Memory::graph)
            lose(block);
    });
    physical_.for_each([this](const Block& block) { lose(block); });
}

// Whether each block is one that this replay would have made, and each phase has its holders.
bool HeapReplay::rebuild()
{
    std::vector<std::uint32_t> holders(phases_.size());
    bool sound = true;
    const auto hold = [&](PhaseId phase) {
        sound = sound && phase < holders.size();
        if (sound)
            ++holders[phase];
    };
    const auto check = [&](const Block& block) {
        sound = sound && block.site < sites_.all().size() && sums_.knows(block);
        if (!sound)
            return;
        const Site& site = sites_[block.site];
        sound = block.memory == site.memory && block.device == site.device &&
                block.context == site.context;
        hold(block.phase);
    };
    live_.for_each(check);
    physical_.for_each(check);
    lost_.for_each_phase(hold);
    for (const Site& site : sites_.all())
        sound = sound && site.phase < phases_.kinds();
    return sound && phases_.is_held(std::move(holders));
}

} // namespace vramscope::report
