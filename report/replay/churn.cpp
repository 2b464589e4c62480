// report/replay/churn.cpp — a few sums for each event.
#include "report/replay/churn.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace vramscope::report {

namespace {

constexpr std::size_t kMostDriverRows = 4096; // entry points that a hostile log may name

} // namespace

void ChurnCounts::note(const Record& record)
{
    from_driver_.note(record);
    if (const auto time = record.as<format::DriverTime>()) {
        if (driver_.size() >= kMostDriverRows && !driver_.contains(time->api))
            return;
        DriverCallSum& sum = driver_[time->api];
        sum.calls += time->calls;
        sum.ticks += time->total;
        sum.longest_ticks = std::max(sum.longest_ticks, time->longest.value);
    }
}

void ChurnCounts::born(const Block& block)
{
    if (!is_own_memory(block.memory))
        return;
    last_of(block) = {true, block.stack, block.bytes};
    Sizes& size = sizes_[static_cast<std::size_t>(std::bit_width(block.bytes))];
    ++size.blocks;
    size.bytes += block.bytes;
    SiteChurn& site = sites_.of(block.site);
    for (SiteChurn::Freed& freed : site.freed) {
        if (freed.blocks == 0 || freed.bytes != block.bytes)
            continue;
        --freed.blocks;
        ++site.redundant;
        site.redundant_driver += from_driver_.last();
        break;
    }
}

void ChurnCounts::freed(const Block& block, std::uint64_t ticks)
{
    if (!is_own_memory(block.memory))
        return;
    SiteChurn& site = sites_.of(block.site);
    Last& last = last_of(block);
    site.temporary += last.fresh && last.stack == block.stack && last.bytes == block.bytes;
    last.fresh = false;
    const std::uint64_t now = clock_.ns(ticks);
    const std::uint64_t life = now - std::min(clock_.ns(block.ticks), now);
    site.short_lived += life < kShortLifeNs;
    ++lifetimes_[bin_of(life)];
    note_freed(site, block.bytes);
}

// Between two powers of two there is one bound at most.
std::size_t ChurnCounts::bin_of(std::uint64_t life_ns) noexcept
{
    static constexpr auto kBounds = [] {
        std::array<std::uint64_t, kLifetimes> bounds{1000};
        for (std::size_t bin = 1; bin < kLifetimes; ++bin)
            bounds[bin] = bounds[bin - 1] * 10;
        bounds.back() = UINT64_MAX;
        return bounds;
    }();
    static constexpr auto kBinOfWidth = [] { // of the least number of so many bits
        std::array<std::uint8_t, 65> bins{};
        for (std::size_t width = 1; width < bins.size(); ++width) {
            bins[width] = bins[width - 1];
            while (std::uint64_t{1} << (width - 1) >= kBounds[bins[width]])
                ++bins[width];
        }
        return bins;
    }();
    const std::size_t bin = kBinOfWidth[static_cast<std::size_t>(std::bit_width(life_ns))];
    return bin + (life_ns >= kBounds[bin]);
}

// One more of this size, which becomes the first; there is room for it where another one was, if
// only the one that was not used for longest.
void ChurnCounts::note_freed(SiteChurn& site, std::uint64_t bytes)
{
    SiteChurn::Freed next{bytes, 1};
    for (SiteChurn::Freed& one : site.freed) {
        std::swap(one, next);
        if (next.bytes == bytes)
            site.freed.front().blocks += next.blocks;
        if (next.blocks == 0 || next.bytes == bytes)
            return;
    }
}

void ChurnCounts::gone(const Block& block, std::uint64_t)
{
    if (is_own_memory(block.memory))
        last_of(block).fresh = false;
}

void ChurnCounts::context_gone(std::span<const SiteLoss>, std::uint64_t)
{
    for (Last& last : last_)
        last.fresh = false;
}

ChurnNumbers ChurnCounts::sum() const
{
    ChurnNumbers sum;
    for (SiteId site = 0; site < sites_.size(); ++site)
        sum.add(sites_[site]);
    return sum;
}

} // namespace vramscope::report
