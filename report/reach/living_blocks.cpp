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
    log_->replays.heap.for_each_alive([&](const Block& block) { blocks_.push_back(block); });
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.address < b.address; });
    find_given();
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

void LivingBlocks::find_given()
{
    std::map<Address, std::uint64_t> segments; // and their bytes
    log_->reading.pool().for_each_segment(
        [&](const Segment& segment) { segments.emplace(segment.address, segment.bytes); });
    std::map<format::Memory, std::vector<Address>> given;
    for (const auto& [address, bytes] : segments)
        given[format::Memory::device].push_back(address);
    for (const Block& block : blocks_) {
        const auto behind = segments.upper_bound(block.address);
        const bool pooled = behind != segments.begin() &&
                            block.address - std::prev(behind)->first < std::prev(behind)->second;
        if (!pooled && block.memory != format::Memory::suballocated)
            given[block.memory].push_back(block.address);
    }
    for (auto& [memory, addresses] : given) {
        std::sort(addresses.begin(), addresses.end());
        given_.push_back(std::move(addresses));
    }
}

} // namespace vramscope::report
