// report/plan/trace/start_state.hpp — what an imported recording's allocator held at first.
//
// Blocks and what is said of segments come as the records do; at the end of the start they are put
// together. Memory: that of the blocks, until their device is settled.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "report/plan/trace/trace.hpp"
#include "report/replay/heap/cut_memory.hpp"
#include "tracker/format/records.hpp"

namespace vramscope::report::plan {

class StartState {
public:
    void add_block(std::int32_t device, const Request& request, std::uint64_t address)
    {
        blocks_.push_back({device, request, address});
    }
    void note(const format::CutFrom& segment) { sizes_[segment.address] = segment.blocks; }

    // Once for each device, with the segments of all of them. Blocks that lie in no segment of
    // theirs are asked for first.
    void settle(Trace& trace, const std::vector<AllocatorSegment>& segments);

private:
    struct Block {
        std::int32_t device = 0;
        Request request;
        std::uint64_t address = 0;
    };
    std::vector<StartSegment> segments_of(std::int32_t device,
                                          const std::vector<AllocatorSegment>& segments) const;

    std::vector<Block> blocks_;
    std::unordered_map<std::uint64_t, format::BlockSize> sizes_; // by the segment's address
};

} // namespace vramscope::report::plan
