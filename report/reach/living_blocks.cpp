// report/reach/living_blocks.cpp — LivingBlocks by one reading of the log.
#include "report/reach/living_blocks.hpp"

#include <algorithm>
#include <map>

namespace vramscope::report {

LivingBlocks::LivingBlocks(const LogFile& log, std::uint64_t until_ticks)
    : reading_(log, {.until_ticks = until_ticks, .runs_on = true}),
      replay_(reading_.tables(), log.header().exit_began_ticks)
{
    reading_.read(replay_, {}, [&](const Record& record) {
        note_segments(record);
        replay_.apply(record);
    });
    replay_.for_each_alive([&](const Block& block) { blocks_.push_back(block); });
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.address < b.address; });
    find_given();
}

void LivingBlocks::note_segments(const Record& record)
{
    if (const auto segment = record.as<format::Segment>())
        segments_[segment->address] = {segment->bytes, segment->context};
    else if (const auto gone = record.as<format::SegmentGone>())
        segments_.erase(gone->address);
    else if (const auto context = record.as<format::ContextGone>())
        std::erase_if(segments_,
                      [&](const auto& one) { return one.second.context == context->context; });
}

void LivingBlocks::find_given()
{
    std::map<format::Memory, std::vector<Address>> given;
    for (const auto& [address, segment] : segments_)
        given[format::Memory::device].push_back(address);
    for (const Block& block : blocks_) {
        const auto behind = segments_.upper_bound(block.address);
        const bool pooled =
            behind != segments_.begin() &&
            block.address - std::prev(behind)->first < std::prev(behind)->second.bytes;
        if (!pooled && block.memory != format::Memory::suballocated)
            given[block.memory].push_back(block.address);
    }
    for (auto& [memory, addresses] : given) {
        std::sort(addresses.begin(), addresses.end());
        given_.push_back(std::move(addresses));
    }
}

} // namespace vramscope::report
