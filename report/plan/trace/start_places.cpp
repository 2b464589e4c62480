// report/plan/trace/start_places.cpp — the next block tells where the one before it ends.
#include "report/plan/trace/start_places.hpp"

#include <iterator>

namespace vramscope::report::plan {

void StartPlaces::begin(std::vector<StartSegment>& at_start)
{
    for (StartSegment& segment : at_start)
        for (StartBlock& block : segment.blocks)
            live_[segment.address + block.offset] = {&block, segment.address + segment.bytes};
    any_ = !live_.empty();
}

void StartPlaces::born(std::uint64_t address)
{
    // A longer one is a piece of its own; and sizes are rounded up to 512 bytes.
    constexpr std::uint64_t kMostRest = (1u << 20) + 511;
    if (!any_)
        return;
    const auto behind = live_.lower_bound(address);
    if (behind != live_.begin()) {
        const auto before = std::prev(behind);
        const Older& older = before->second;
        const std::uint64_t bytes = address - before->first;
        // Otherwise a freed block lies between them that queued work still uses.
        if (older.block && older.block->place_bytes == 0 && address < older.end &&
            bytes >= older.block->bytes && bytes - older.block->bytes <= kMostRest)
            older.block->place_bytes = bytes;
    }
    live_[address] = {};
}

} // namespace vramscope::report::plan
