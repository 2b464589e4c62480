// report/plan/trace/start_state.cpp — blocks are looked for in the segments of their device.
#include "report/plan/trace/start_state.hpp"

#include <algorithm>
#include <iterator>

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kSmallBlock = 1u << 20; // PyTorch's
constexpr std::uint64_t kSmallSegment = 2u << 20;

// Around the address; nullptr: none is.
StartSegment* segment_around(std::vector<StartSegment>& segments, std::uint64_t address)
{
    const auto behind = std::upper_bound(
        segments.begin(), segments.end(), address,
        [](std::uint64_t wanted, const StartSegment& one) { return wanted < one.address; });
    if (behind == segments.begin())
        return nullptr;
    StartSegment& segment = *std::prev(behind);
    return address - segment.address < segment.bytes ? &segment : nullptr;
}

} // namespace

std::vector<StartSegment>
StartState::segments_of(std::int32_t device, const std::vector<AllocatorSegment>& segments) const
{
    std::vector<StartSegment> found;
    for (const AllocatorSegment& segment : segments) {
        if (segment.device != device)
            continue;
        const auto told = sizes_.find(segment.address);
        const bool known = told != sizes_.end() && told->second != format::BlockSize::unknown;
        found.push_back({.address = segment.address,
                         .bytes = segment.bytes,
                         .small = known ? told->second == format::BlockSize::small
                                        : segment.bytes == kSmallSegment,
                         .blocks = {}});
    }
    std::sort(found.begin(), found.end(),
              [](const StartSegment& a, const StartSegment& b) { return a.address < b.address; });
    return found;
}

void StartState::settle(Trace& trace, const std::vector<AllocatorSegment>& segments)
{
    trace.at_start = segments_of(trace.device, segments);
    std::vector<Request> outside;
    for (const Block& block : blocks_) {
        if (block.device != trace.device)
            continue;
        StartSegment* const segment = segment_around(trace.at_start, block.address);
        if (!segment) {
            outside.push_back(block.request);
            continue;
        }
        const Request& request = block.request;
        segment->stream = request.stream;
        segment->pool = request.pool;
        segment->small = segment->small && request.bytes <= kSmallBlock;
        segment->blocks.push_back({.block = request.block,
                                   .offset = block.address - segment->address,
                                   .bytes = request.bytes});
    }
    for (StartSegment& segment : trace.at_start)
        std::sort(segment.blocks.begin(), segment.blocks.end(),
                  [](const StartBlock& a, const StartBlock& b) { return a.offset < b.offset; });
    trace.requests.insert(trace.requests.begin(), outside.begin(), outside.end());
    std::erase_if(blocks_, [&](const Block& block) { return block.device == trace.device; });
}

} // namespace vramscope::report::plan
