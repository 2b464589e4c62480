// report/read/segments.cpp — look-ups by address, and the gaps between blocks.
#include "report/read/segments.hpp"

#include <iterator>

namespace vramscope::report {

Segment::Blocks::iterator Segment::overlapping(std::uint64_t from, std::uint64_t to)
{
    if (blocks.empty())
        return blocks.end();
    auto block = blocks.upper_bound(from);
    if (block != blocks.begin()) {
        const auto before = std::prev(block);
        if (before->first + before->second.bytes > from)
            return before;
    }
    return block != blocks.end() && block->first < to ? block : blocks.end();
}

std::uint64_t Segment::gaps_beside(std::uint64_t from, std::uint64_t to) const
{
    if (blocks.empty()) // the usual case: a segment of one block
        return std::uint64_t{address < from} + std::uint64_t{to < end()};
    const auto behind = blocks.lower_bound(to);
    std::uint64_t free_from = address;
    if (const auto before = blocks.lower_bound(from); before != blocks.begin()) {
        const auto& [start, block] = *std::prev(before);
        free_from = start + block.bytes;
    }
    const std::uint64_t free_to = behind == blocks.end() ? end() : behind->first;
    return std::uint64_t{free_from < from} + std::uint64_t{to < free_to};
}

PoolBlock& Segment::place(std::uint64_t at, const PoolBlock& block)
{
    gaps += gaps_beside(at, at + block.bytes) - 1;
    used_bytes += block.bytes;
    return blocks.emplace(at, block).first->second;
}

void Segment::erase(Blocks::iterator block)
{
    const auto [at, gone] = *block;
    used_bytes -= gone.bytes;
    if (blocks.size() > 1)
        gaps += 1 - gaps_beside(at, at + gone.bytes);
    else
        gaps = 1;
    blocks.erase(block);
}

Segment& Segments::add(const Segment& segment)
{
    Segment& added = by_address_.emplace(segment.address, segment).first->second;
    by_start_.insert(segment.address, &added);
    by_context_[segment.context].emplace(segment.address, &added);
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
    by_address_.erase(address);
}

Segment* Segments::at(std::uint64_t address)
{
    Segment** const found = by_start_.find(address);
    return found ? *found : nullptr;
}

Segment* Segments::containing(std::uint64_t address)
{
    if (Segment* const begins_here = at(address))
        return begins_here;
    const auto behind = by_address_.upper_bound(address);
    if (behind == by_address_.begin())
        return nullptr;
    Segment& before = std::prev(behind)->second;
    return address < before.end() ? &before : nullptr;
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
