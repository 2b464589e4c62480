// report/plan/policies/none.cpp — no allocator between the program and the driver, and an ideal.
#include "report/plan/policies/none.hpp"

#include "interpose/pool/rounding.hpp"
#include "report/plan/policies/by_block.hpp"

namespace vramscope::report::plan {

bool NonePolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

bool NonePolicy::allocate(const Request& request)
{
    Block& block = entry_of(blocks_, request.block);
    if (!pages_.allocate(request.bytes, block.address))
        return false;
    block.bytes = request.bytes;
    allocated_ += DriverPages::rounded(request.bytes);
    return true;
}

void NonePolicy::free(const Request& request)
{
    const Block& block = blocks_[request.block];
    pages_.release(block.address, block.bytes);
    allocated_ -= DriverPages::rounded(block.bytes);
}

namespace {

std::uint64_t pages_for(std::uint64_t bytes)
{
    return pool::round_up(bytes, pool::kSegmentUnit);
}

} // namespace

bool IdealPolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

bool IdealPolicy::allocate(const Request& request)
{
    if (request.bytes > CountedDevice::kNoLimit / 4)
        return false;
    const std::uint64_t missing = pages_for(allocated_ + request.bytes) - device_.reserved();
    if (missing && !device_.map(0, missing, 0))
        return false;
    allocated_ += request.bytes;
    entry_of(bytes_, request.block) = request.bytes;
    return true;
}

void IdealPolicy::free(const Request& request)
{
    allocated_ -= bytes_[request.block];
    if (const std::uint64_t unused = device_.reserved() - pages_for(allocated_))
        device_.release(0, unused, 0);
}

} // namespace vramscope::report::plan
