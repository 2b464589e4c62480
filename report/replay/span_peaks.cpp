// report/replay/span_peaks.cpp — what sites were at a moment is saved before they change.
#include "report/replay/span_peaks.hpp"

#include <algorithm>
#include <utility>

namespace vramscope::report {
namespace {

// A span ends when it is this part of the device's events, or of its time.
constexpr std::uint64_t kSpanParts = 48;

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

void SpanPeaks::Spans::keep(Done done_now)
{
    done.push_back(std::move(done_now));
    if (done.size() > kMostSpans)
        join_least();
}

// The two neighbours that are least together, in events and in time.
void SpanPeaks::Spans::join_least()
{
    const double all_events = static_cast<double>(events) + 1;
    const double all_ticks = static_cast<double>(last_ticks - first_ticks) + 1;
    const auto share = [&](std::size_t at) {
        return static_cast<double>(done[at].events + done[at + 1].events) / all_events +
               static_cast<double>(done[at].ticks_long + done[at + 1].ticks_long) / all_ticks;
    };
    std::size_t least = 0;
    for (std::size_t at = 1; at + 1 < done.size(); ++at) {
        if (share(at) < share(least))
            least = at;
    }
    Done& one = done[least];
    Done& next = done[least + 1];
    next.begin_ticks = one.begin_ticks;
    next.events += one.events;
    next.ticks_long += one.ticks_long;
    if (one.bytes >= next.bytes) {
        next.ticks = one.ticks;
        next.bytes = one.bytes;
        next.blocks = one.blocks;
        next.shares = std::move(one.shares);
    }
    done.erase(done.begin() + static_cast<std::ptrdiff_t>(least));
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
    if (spans.moment == 0) {
        spans.first_ticks = spans.last_ticks = change.ticks;
        open(spans, change.ticks, change.device.requested.current);
    } else {
        save(spans, change.before);
    }
    // What comes late is as late as the event before it.
    const Change now{change.device, std::max(change.ticks, spans.last_ticks), change.before,
                     change.level};
    const std::uint64_t share = (now.ticks - spans.first_ticks) / kSpanParts;
    const bool after_a_gap = now.ticks - spans.last_ticks > share;
    if (after_a_gap || now.ticks - spans.begin_ticks > share ||
        spans.events - spans.begin_events > spans.events / kSpanParts)
        turn(spans, now, after_a_gap);
    spans.last_ticks = now.ticks;
    ++spans.events;
    if (now.device.requested.current <= spans.high)
        return;
    spans.high = now.device.requested.current;
    spans.high_ticks = now.ticks;
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

// Ends the span. A long time up to here in which nothing happened is a span as well, of what was
// there before the change.
void SpanPeaks::turn(Spans& spans, const Change& change, bool after_a_gap)
{
    const std::uint64_t gap_begin = spans.last_ticks;
    close(spans, change.device, after_a_gap ? gap_begin : change.ticks);
    if (after_a_gap) {
        open(spans, gap_begin, change.level);
        save(spans, change.before);
        close(spans, change.device, change.ticks);
    }
    open(spans, change.ticks, change.device.requested.current);
}

void SpanPeaks::open(Spans& spans, std::uint64_t begin_ticks, std::uint64_t level)
{
    spans.begin_ticks = begin_ticks;
    spans.begin_events = spans.events;
    spans.high = level;
    spans.high_ticks = begin_ticks;
    spans.moment = ++moments_;
}

void SpanPeaks::close(Spans& spans, const DeviceMemory::Device& device, std::uint64_t end_ticks)
{
    Done peak;
    peak.begin_ticks = spans.begin_ticks;
    peak.ticks = spans.high_ticks;
    peak.events = spans.events - spans.begin_events;
    peak.ticks_long = end_ticks - spans.begin_ticks;
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
        if (device.index >= spans_.size() || spans_[device.index].moment == 0)
            continue;
        Spans& spans = spans_[device.index];
        const Change end{
            device, std::max(end_ticks, spans.last_ticks), {}, device.requested.current};
        const std::uint64_t share = (end.ticks - spans.first_ticks) / kSpanParts;
        if (end.ticks - spans.last_ticks > share)
            turn(spans, end, true);
        close(spans, device, end.ticks);
    }
}

std::vector<SpanPeak> SpanPeaks::of_device(std::size_t index) const
{
    if (index >= spans_.size())
        return {};
    return {spans_[index].done.begin(), spans_[index].done.end()};
}

} // namespace vramscope::report
