// report/read/segments.cpp — look-ups by address, and the gaps between blocks.
#include "report/read/segments.hpp"

#include <iterator>
#include <utility>

namespace vramscope::report {

PoolBlock* Segment::overlapping(std::uint64_t from, std::uint64_t to) noexcept
{
    if (blocks.empty())
        return nullptr;
    PoolBlock* const before = blocks.last_before(from);
    if (before && before->address + before->bytes > from)
        return before;
    PoolBlock* const next = blocks.first_from(from);
    return next && next->address < to ? next : nullptr;
}

std::uint64_t Segment::gaps_beside(std::uint64_t from, std::uint64_t to) noexcept
{
    if (blocks.empty()) // the usual case: a segment of one block
        return std::uint64_t{address < from} + std::uint64_t{to < end()};
    const PoolBlock* const before = blocks.last_before(from);
    const std::uint64_t free_from = before ? before->address + before->bytes : address;
    const PoolBlock* const behind = blocks.first_from(to);
    const std::uint64_t free_to = behind ? behind->address : end();
    return std::uint64_t{free_from < from} + std::uint64_t{to < free_to};
}

void Segment::place(const PoolBlock& block)
{
    gaps += gaps_beside(block.address, block.address + block.bytes) - 1;
    used_bytes += block.bytes;
    blocks.insert(block);
}

void Segment::erase(const PoolBlock& block)
{
    used_bytes -= block.bytes;
    if (blocks.size() > 1)
        gaps += 1 - gaps_beside(block.address, block.address + block.bytes);
    else
        gaps = 1;
    blocks.erase(block.address);
}

Segment& Segments::add(Segment segment)
{
    const std::uint64_t address = segment.address;
    Segment& added = by_address_.emplace(address, std::move(segment)).first->second;
    by_start_.insert(address, &added);
    by_context_[added.context].emplace(address, &added);
    return added;
}

void Segments::remove(Segment& segment)
{
    const std::uint64_t address = segment.address;
    const auto context = by_context_.find(segment.context);
    context->second.erase(address);
    if (context->second.empty())
        by_context_.erase(context);
    by_start_.erase(by_start_.find(address));
    if (hinted_) {
        hints_.fill({});
        hinted_ = false;
    }
    by_address_.erase(address);
}

Segment* Segments::at(std::uint64_t address)
{
    Segment** const found = by_start_.find(address);
    return found ? *found : nullptr;
}

Segment* Segments::containing(std::uint64_t address)
{
    Hint& hint = hints_[(address >> kPageBits) % hints_.size()];
    if (hint.page == address >> kPageBits && address >= hint.segment->address &&
        address < hint.segment->end())
        return hint.segment;
    if (Segment* const begins_here = at(address))
        return begins_here;
    const auto behind = by_address_.upper_bound(address);
    if (behind == by_address_.begin())
        return nullptr;
    Segment& before = std::prev(behind)->second;
    if (address >= before.end())
        return nullptr;
    hint = {address >> kPageBits, &before};
    hinted_ = true;
    return &before;
}

Segment* Segments::overlapping(std::uint64_t from, std::uint64_t to)
{
    if (Segment* const reaches_in = containing(from))
        return reaches_in;
    const auto next = by_address_.lower_bound(from);
    return next != by_address_.end() && next->first < to ? &next->second : nullptr;
}

Segment* Segments::any_of_context(std::uint64_t context)
{
    const auto found = by_context_.find(context);
    return found == by_context_.end() ? nullptr : found->second.begin()->second;
}

} // namespace vramscope::report
