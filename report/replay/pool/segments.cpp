// report/replay/pool/segments.cpp — look-ups by address, and the gaps between blocks.
#include "report/replay/pool/segments.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

PoolBlock* Segment::overlapping(const Beside& beside, std::uint64_t from, std::uint64_t to) noexcept
{
    if (beside.neighbours.end_before > from)
        return blocks.before(beside.place);
    return beside.neighbours.behind < to ? blocks.behind(beside.place) : nullptr;
}

std::uint32_t Segment::gaps_beside(const PoolBlock& block,
                                   const PoolBlocks::Neighbours& neighbours) const noexcept
{
    const std::uint64_t free_from = std::max(address, neighbours.end_before);
    const std::uint64_t free_to = std::min(end(), neighbours.behind);
    return std::uint32_t{free_from < block.address} +
           std::uint32_t{block.address + block.bytes < free_to};
}

void Segment::insert(const Beside& beside, const PoolBlock& block)
{
    used_bytes += block.bytes;
    gaps += gaps_beside(block, beside.neighbours) - 1;
    blocks.insert(beside.place, block);
}

PoolBlock Segment::erase(const PoolBlocks::Place& place)
{
    const PoolBlock block = *blocks.behind(place);
    used_bytes -= block.bytes;
    gaps += 1 - gaps_beside(block, blocks.around_block(place));
    blocks.erase(place);
    return block;
}

Segment& Segments::add(Segment segment)
{
    const std::size_t number = segments_.add(std::move(segment));
    Segment& added = segments_[number];
    added.number = static_cast<std::uint32_t>(number);
    // Often the last one: address spaces grow, and what was kept is in order.
    by_address_.emplace_hint(by_address_.end(), added.address, number);
    by_start_.insert(added.address, number);
    by_context_.add(number, added.context);
    return added;
}

void Segments::remove(Segment& segment)
{
    by_context_.remove(segment.number, segment.context);
    by_start_.erase(by_start_.find(segment.address));
    by_address_.erase(segment.address);
    if (hinted_) {
        hints_.fill({});
        hinted_ = false;
    }
    segments_.remove(segment.number);
    segment = {}; // it contains no address
}

Segment* Segments::containing(std::uint64_t address)
{
    if (Segment* const found = hinted(address))
        return found;
    if (Segment* const found = at(address))
        return found;
    const auto behind = by_address_.upper_bound(address);
    if (behind == by_address_.begin())
        return nullptr;
    const std::size_t number = std::prev(behind)->second;
    Segment* const before = numbered(number, address);
    if (before) {
        hint_of(address) = {address >> kPageBits, number};
        hinted_ = true;
    }
    return before;
}

void Segments::prefetch(std::span<const std::uint64_t> addresses) noexcept
{
    std::array<Segment*, kMostAhead> segments;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        segments[i] = hinted(addresses[i]);
        if (!segments[i])
            by_start_.prefetch(addresses[i]);
    }
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (!segments[i])
            segments[i] = at(addresses[i]);
        if (segments[i])
            prefetch_lines<Segment::kHotLines>(segments[i]);
    }
    prefetch_blocks(addresses, {segments.data(), addresses.size()});
}

void Segments::prefetch(std::span<const std::uint64_t> addresses,
                        std::span<const std::size_t> numbers) noexcept
{
    std::array<const Segment*, kMostAhead> segments;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        segments[i] = &segments_[numbers[i]];
        prefetch_lines<Segment::kHotLines>(segments[i]);
    }
    prefetch_blocks(addresses, {segments.data(), addresses.size()});
}

void Segments::prefetch_blocks(std::span<const std::uint64_t> addresses,
                               std::span<const Segment* const> segments) const noexcept
{
    if (!hinted_)
        return; // every address was where its segment begins: the block lies in that
    for (const Segment* const segment : segments) {
        if (segment)
            segment->blocks.prefetch_runs();
    }
    std::array<PoolBlocks::Near, kMostAhead> near;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (segments[i])
            near[i] = segments[i]->blocks.prefetch_run(addresses[i]);
    }
    for (std::size_t i = 0; i < segments.size(); ++i)
        PoolBlocks::prefetch_block(near[i], addresses[i]);
}

Segment* Segments::overlapping(std::uint64_t from, std::uint64_t to)
{
    if (Segment* const reaches_in = containing(from))
        return reaches_in;
    const auto next = by_address_.lower_bound(from);
    return next != by_address_.end() && next->first < to ? &segments_[next->second] : nullptr;
}

std::vector<std::uint64_t> Segments::of_context(std::uint64_t context)
{
    std::vector<std::uint64_t> addresses;
    by_context_.for_each_of(
        context, [&](std::size_t number) { addresses.push_back(segments_[number].address); });
    std::sort(addresses.begin(), addresses.end());
    return addresses;
}

std::vector<Segments::Kept> Segments::kept() const
{
    std::vector<Kept> kept;
    for_each([&](const Segment& segment) {
        Segment& copy = kept.emplace_back().first;
        copy.address = segment.address;
        copy.bytes = segment.bytes;
        copy.device = segment.device;
        copy.small = segment.small;
        copy.context = segment.context;
        copy.born_ticks = segment.born_ticks;
        copy.born = segment.born;
        segment.blocks.for_each(
            [&](const PoolBlock& block) { kept.back().second.push_back(block); });
    });
    return kept;
}

// False: two overlap or are not in order, or a block does not lie where it should.
bool Segments::restore(std::vector<Kept>&& kept)
{
    std::uint64_t end_before = 0;
    for (auto& [segment, blocks] : kept) {
        if (segment.bytes == 0 || segment.bytes > UINT64_MAX - segment.address ||
            segment.address < std::exchange(end_before, segment.end()))
            return false;
        Segment& added = add(std::move(segment));
        for (const PoolBlock& block : blocks) {
            const Segment::Beside beside = added.beside(block.address);
            if (block.bytes == 0 || !added.contains(block.address) ||
                block.bytes > added.end() - block.address ||
                added.overlapping(beside, block.address, block.end()))
                return false;
            added.insert(beside, block);
        }
    }
    return true;
}

} // namespace vramscope::report
