// report/reach/living_blocks.cpp — one reading of the log, perhaps from a checkpoint on.
#include "report/reach/living_blocks.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "report/checkpoint/log_replay.hpp"

namespace vramscope::report {

LivingBlocks::LivingBlocks(const LogFile& log, std::uint64_t until_ticks,
                           CheckpointStore* checkpoints)
    : log_(begin_replay(log, {.until_ticks = until_ticks, .runs_on = true}, {}, checkpoints))
{
    log_->read();
    keep_checkpoint(*log_, checkpoints);
    std::vector<const Block*> kept;
    log_->replays.heap.for_each_alive([&](const Block& block) { kept.push_back(&block); });
    std::sort(kept.begin(), kept.end(),
              [](const Block* a, const Block* b) { return a->address < b->address; });
    for (const Block* const block : kept)
        blocks_.push_back(*block);
    names_ = names_of(log_->replays.heap, kept);
    find_given();
    find_handles();
}

LivingBlocks::~LivingBlocks() = default;

const LogTables& LivingBlocks::tables() const
{
    return log_->reading.tables();
}

const Sites& LivingBlocks::sites() const
{
    return log_->replays.heap.sites();
}

// Only blocks are looked for: a segment that does not begin with one would be missing in any books.
void LivingBlocks::find_given()
{
    const auto begins_a_block = [&](Address address) {
        const auto at = std::lower_bound(
            blocks_.begin(), blocks_.end(), address,
            [](const Block& block, Address other) { return block.address < other; });
        return at != blocks_.end() && at->address == address;
    };
    std::map<Address, std::uint64_t> segments; // and their bytes
    log_->reading.pool().for_each_segment(
        [&](const Segment& segment) { segments.emplace(segment.address, segment.bytes); });
    const auto is_pooled = [&](Address address) {
        const auto behind = segments.upper_bound(address);
        return behind != segments.begin() &&
               address - std::prev(behind)->first < std::prev(behind)->second;
    };
    std::map<format::Memory, std::vector<Address>> given;
    for (const auto& [address, bytes] : segments)
        if (begins_a_block(address))
            given[format::Memory::device].push_back(address);
    for (const AllocatorSegment& segment : log_->replays.heap.segments_now())
        if (!is_pooled(segment.address) && begins_a_block(segment.address))
            given[format::Memory::segment].push_back(segment.address);
    for (const Block& block : blocks_)
        if (block.memory == format::Memory::suballocated || !is_pooled(block.address))
            given[block.memory].push_back(block.address);
    for (auto& [memory, addresses] : given) {
        std::sort(addresses.begin(), addresses.end());
        given_.push_back({std::move(addresses), memory != format::Memory::suballocated});
    }
}

void LivingBlocks::find_handles()
{
    log_->replays.heap.for_each_handle([this](std::uint64_t handle, format::Memory what) {
        handles_.push_back(handle);
        has_views_ =
            has_views_ || what == format::Memory::texture || what == format::Memory::surface;
    });
    for (const Block& block : blocks_)
        if (!format::is_range(format::kind_of(block.memory).space))
            handles_.push_back(block.address);
    std::sort(handles_.begin(), handles_.end());
}

} // namespace vramscope::report
