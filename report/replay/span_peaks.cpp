// report/replay/span_peaks.cpp — what sites were at a moment is saved before they change.
#include "report/replay/span_peaks.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

bool is_device_memory(format::Memory memory) noexcept
{
    return class_of(memory) == format::MemoryClass::device;
}

void keep_largest(std::vector<SiteShare>& shares)
{
    if (shares.size() <= SpanPeaks::kMostShares)
        return;
    const auto larger = [](const SiteShare& a, const SiteShare& b) { return a.bytes > b.bytes; };
    const auto behind = shares.begin() + SpanPeaks::kMostShares;
    std::nth_element(shares.begin(), behind, shares.end(), larger);
    shares.erase(behind, shares.end());
}

} // namespace

// Into the span before, where both are one by now.
void SpanPeaks::Spans::keep(SpanPeak peak)
{
    peak.begin_ticks = begin_of(peak.begin_ticks);
    if (done.empty() || done.back().begin_ticks != peak.begin_ticks)
        done.push_back(std::move(peak));
    else if (peak.bytes > done.back().bytes)
        done.back() = std::move(peak);
}

void SpanPeaks::Spans::halve()
{
    ++shift;
    for (SpanPeak& peak : std::exchange(done, {}))
        keep(std::move(peak));
}

void SpanPeaks::born(const Block& block)
{
    if (!is_device_memory(block.memory))
        return;
    const Site& site = sites_[block.site];
    const SiteShare before{block.site, site.live_bytes - block.bytes, site.live_blocks - 1};
    const DeviceMemory::Device& device = *memory_.device(block.device);
    note({device, block.ticks, {&before, 1}, device.requested.current - block.bytes});
}

void SpanPeaks::freed(const Block& block, std::uint64_t ticks)
{
    if (!is_device_memory(block.memory))
        return;
    const Site& site = sites_[block.site];
    const SiteShare before{block.site, site.live_bytes + block.bytes, site.live_blocks + 1};
    const DeviceMemory::Device& device = *memory_.device(block.device);
    note({device, ticks, {&before, 1}, device.requested.current + block.bytes});
}

void SpanPeaks::context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks)
{
    for (const DeviceMemory::Device& device : memory_.devices()) {
        std::vector<SiteShare> before;
        std::uint64_t level = device.requested.current;
        for (const SiteLoss& loss : losses) {
            const Site& site = sites_[loss.site];
            if (!is_device_memory(site.memory) || memory_.device(site.device) != &device)
                continue;
            before.push_back(
                {loss.site, site.live_bytes + loss.bytes, site.live_blocks + loss.blocks});
            level += loss.bytes;
        }
        if (!before.empty())
            note({device, ticks, before, level});
    }
}

void SpanPeaks::note(const Change& change)
{
    spans_.resize(std::max(spans_.size(), change.device.index + 1));
    Spans& spans = spans_[change.device.index];
    if (spans.next == 0)
        spans.first = change.ticks;
    save(spans, change.before);
    if (change.ticks >= spans.next)
        turn(spans, change);
    if (change.device.requested.current <= spans.high)
        return;
    spans.high = change.device.requested.current;
    spans.high_ticks = change.ticks;
    spans.moment = ++moments_;
}

void SpanPeaks::save(const Spans& spans, std::span<const SiteShare> before)
{
    for (const SiteShare& share : before) {
        Saved& saved = saved_.of(share.site);
        if (saved.moment != spans.moment)
            saved = {spans.moment, share.bytes, share.blocks};
    }
}

// Ends the last span. The time up to here in which nothing happened is a span as well.
void SpanPeaks::turn(Spans& spans, const Change& change)
{
    const bool first = spans.next == 0;
    if (!first)
        close(spans, change.device);
    while (spans.span_of(change.ticks) >= kMostSpans)
        spans.halve();
    const std::uint64_t gap = spans.begin_of(spans.begin) + (std::uint64_t{1} << spans.shift);
    const std::uint64_t begin = spans.begin_of(change.ticks);
    if (!first && gap < begin) {
        open(spans, gap, change);
        close(spans, change.device);
    }
    open(spans, begin, change);
}

// It begins with what was there before the change.
void SpanPeaks::open(Spans& spans, std::uint64_t begin, const Change& change)
{
    const std::uint64_t width = std::uint64_t{1} << spans.shift;
    spans.begin = begin;
    spans.next = begin + std::min(width, UINT64_MAX - begin);
    spans.high = change.level;
    spans.high_ticks = begin;
    spans.moment = ++moments_;
    save(spans, change.before);
}

void SpanPeaks::close(Spans& spans, const DeviceMemory::Device& device)
{
    SpanPeak peak;
    peak.begin_ticks = spans.begin;
    peak.ticks = spans.high_ticks;
    const std::vector<Site>& sites = sites_.all();
    for (SiteId at = 0; at < sites.size(); ++at) {
        const Site& site = sites[at];
        if (!is_device_memory(site.memory) || memory_.device(site.device) != &device)
            continue;
        const bool changed = at < saved_.size() && saved_[at].moment == spans.moment;
        const SiteShare share{at, changed ? saved_[at].bytes : site.live_bytes,
                              changed ? saved_[at].blocks : site.live_blocks};
        peak.bytes += share.bytes;
        peak.blocks += share.blocks;
        if (share.blocks > 0)
            peak.shares.push_back(share);
    }
    keep_largest(peak.shares);
    spans.keep(std::move(peak));
}

void SpanPeaks::finish(std::uint64_t end_ticks)
{
    for (const DeviceMemory::Device& device : memory_.devices()) {
        if (device.index >= spans_.size() || spans_[device.index].next == 0)
            continue;
        Spans& spans = spans_[device.index];
        if (end_ticks >= spans.next)
            turn(spans, {device, end_ticks, {}, device.requested.current});
        close(spans, device);
    }
}

const std::vector<SpanPeak>& SpanPeaks::of_device(std::size_t index) const
{
    static const std::vector<SpanPeak> kNone;
    return index < spans_.size() ? spans_[index].done : kNone;
}

} // namespace vramscope::report
