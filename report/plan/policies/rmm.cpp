// report/plan/policies/rmm.cpp — RMM's memory resources: its pool, and bins before it.
#include "report/plan/policies/rmm.hpp"

#include "report/plan/policies/by_block.hpp"
#include "report/plan/policies/knobs.hpp"

namespace vramscope::report::plan {

RmmOptions parse_rmm_options(std::string_view text)
{
    RmmOptions options;
    for (const Knob& knob : parse_knobs(text)) {
        if (knob.key == "initial_pool_size_mb")
            options.initial_bytes = knob.mebibytes();
        else if (knob.key == "maximum_pool_size_mb")
            options.most_bytes = knob.mebibytes();
        else
            knob.unknown();
    }
    return options;
}

bool RmmPoolPolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

bool RmmPoolPolicy::allocate(const Request& request)
{
    const BlockIndex block = pool_.allocate(request.bytes, request.stream);
    if (!block)
        return false;
    entry_of(where_, request.block) = block;
    allocated_ += pool_[block].bytes;
    return true;
}

void RmmPoolPolicy::free(const Request& request)
{
    const BlockIndex block = where_[request.block];
    allocated_ -= pool_[block].bytes;
    pool_.free(block, request.stream);
}

bool RmmBinningPolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

// A block of a bin is handed to any stream, which waits for the one that had it.
bool RmmBinningPolicy::fill(std::size_t bin)
{
    const std::uint64_t bytes = kLeast << bin;
    const BlockIndex chunk = pool_.allocate(bytes * kAtOnce, 0);
    for (std::size_t number = 0; chunk && number < kAtOnce; ++number)
        unused_[bin].push_back(pool_[chunk].address + number * bytes);
    return chunk != 0;
}

bool RmmBinningPolicy::allocate(const Request& request)
{
    for (std::size_t each = 0; !filled_ && each < kBins; ++each)
        if (!fill(each))
            return false;
    filled_ = true;
    std::size_t bin = 0;
    while (bin < kBins && (kLeast << bin) < request.bytes)
        ++bin;
    Block& block = entry_of(blocks_, request.block);
    if (bin < kBins) {
        if (unused_[bin].empty() && !fill(bin))
            return false;
        block = {.address = unused_[bin].back(), .bin = static_cast<std::uint8_t>(bin)};
        unused_[bin].pop_back();
        allocated_ += kLeast << bin;
        return true;
    }
    block.index = pool_.allocate(request.bytes, request.stream);
    if (!block.index)
        return false;
    block.address = pool_[block.index].address;
    allocated_ += pool_[block.index].bytes;
    return true;
}

void RmmBinningPolicy::free(const Request& request)
{
    const Block& block = blocks_[request.block];
    if (block.index) {
        allocated_ -= pool_[block.index].bytes;
        pool_.free(block.index, request.stream);
    } else {
        allocated_ -= kLeast << block.bin;
        unused_[block.bin].push_back(block.address);
    }
}

std::uint64_t RmmBinningPolicy::largest_free() const
{
    std::uint64_t largest = pool_.largest_free();
    for (std::size_t bin = 0; bin < kBins; ++bin)
        largest = std::max(largest, unused_[bin].empty() ? 0 : kLeast << bin);
    return largest;
}

} // namespace vramscope::report::plan
