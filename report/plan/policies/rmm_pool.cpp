// report/plan/policies/rmm_pool.cpp — RMM's pool_memory_resource.
#include "report/plan/policies/rmm_pool.hpp"

#include <algorithm>

#include "interpose/pool/rounding.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kAlignment = 256;

} // namespace

RmmPool::RmmPool(CountedDevice& device, const RmmOptions& options)
    : pages_(device), options_(options)
{
    heap_.number_of(0, false);
    if (options.initial_bytes > 0)
        add_segment(pool::round_up(options.initial_bytes, kAlignment), 0);
}

BlockIndex RmmPool::allocate(std::uint64_t bytes, std::uint16_t stream)
{
    if (bytes > pool::kMostBytes)
        return 0;
    const std::uint64_t rounded = pool::round_up(std::max<std::uint64_t>(bytes, 1), kAlignment);
    BlockIndex block = best_fit(rounded, stream);
    if (!block)
        block = from_others(rounded, stream);
    if (!block)
        block = join_with_others(rounded, stream);
    if (!block)
        block = grow(rounded, stream);
    if (!block)
        return 0;
    if (heap_[block].bytes > rounded)
        heap_.insert(heap_.cut(block, rounded));
    heap_[block].state = HeapBlock::State::live;
    return block;
}

void RmmPool::free(BlockIndex block, std::uint16_t stream)
{
    make_free(block, stream);
}

// In no list any more; what is left of it goes to the list that it was in.
BlockIndex RmmPool::best_fit(std::uint64_t bytes, std::uint16_t stream)
{
    const auto found = free_list().lower_bound({bytes, 0, 0, stream});
    if (found == free_list().end() || found->stream != stream)
        return 0;
    const BlockIndex block = found->block;
    heap_.erase(block);
    return block;
}

BlockIndex RmmPool::from_others(std::uint64_t bytes, std::uint16_t stream)
{
    for (auto at = free_list().begin(); at != free_list().end();) {
        const std::uint16_t other = at->stream;
        const BlockIndex block = other == stream ? 0 : best_fit(bytes, other);
        if (block)
            return block;
        at = free_list().lower_bound({CountedDevice::kNoLimit, 0, 0, other}); // the next stream's
    }
    return 0;
}

BlockIndex RmmPool::join_with_others(std::uint64_t bytes, std::uint16_t stream)
{
    for (;;) {
        auto at = free_list().begin();
        if (at != free_list().end() && at->stream == stream)
            at = free_list().lower_bound({CountedDevice::kNoLimit, 0, 0, stream});
        if (at == free_list().end())
            return 0;
        const std::uint16_t other = at->stream;
        while (at != free_list().end() && at->stream == other) {
            const BlockIndex block = at->block;
            heap_.erase(block);
            make_free(block, stream);
            at = free_list().lower_bound({0, 0, 0, other});
        }
        if (const BlockIndex block = best_fit(bytes, stream))
            return block;
    }
}

void RmmPool::make_free(BlockIndex block, std::uint16_t stream)
{
    heap_[block].stream = stream;
    heap_[block].state = HeapBlock::State::free;
    heap_.merge(block);
    heap_.insert(block);
}

BlockIndex RmmPool::grow(std::uint64_t bytes, std::uint16_t stream)
{
    std::uint64_t more = to_grow(bytes);
    while (more >= bytes && !add_segment(more, stream)) {
        if (more == bytes)
            return 0;
        more = std::max(bytes, more / 2);
    }
    return best_fit(bytes, stream);
}

std::uint64_t RmmPool::to_grow(std::uint64_t bytes) const
{
    if (!options_.most_bytes)
        return std::max(bytes, bytes_);
    const std::uint64_t left = *options_.most_bytes - std::min(*options_.most_bytes, bytes_);
    const std::uint64_t rest = pool::round_up(left, kAlignment);
    return bytes <= rest ? std::max(bytes, rest / 2) : 0;
}

bool RmmPool::add_segment(std::uint64_t bytes, std::uint16_t stream)
{
    std::uint64_t address = 0;
    if (!pages_.allocate(bytes, address))
        return false;
    bytes_ += bytes;
    heap_.insert(heap_.add({.address = address, .bytes = bytes, .stream = stream}));
    return true;
}

std::uint64_t RmmPool::largest_free() const
{
    return heap_.largest_free();
}

} // namespace vramscope::report::plan
