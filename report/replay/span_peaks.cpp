// report/replay/span_peaks.cpp — what sites were at a moment is saved before they change.
#include "report/replay/span_peaks.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace vramscope::report {
namespace {

// A span ends when it is this part of the device's events, or of its time.
constexpr std::uint64_t kSpanParts = 96;

bool is_device_memory(format::Memory memory) noexcept
{
    return class_of(memory) == format::MemoryClass::device;
}

template <typename Counts>
void add_to(Counts& counts, const Counts& more)
{
    std::transform(counts.begin(), counts.end(), more.begin(), counts.begin(), std::plus());
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
    add_to(next.sizes, one.sizes);
    add_to(next.lifetimes, one.lifetimes);
    if (one.bytes >= next.bytes) {
        next.ticks = one.ticks;
        next.bytes = one.bytes;
        next.blocks = one.blocks;
        next.shares = std::move(one.shares);
    }
    done.erase(done.begin() + static_cast<std::ptrdiff_t>(least));
}

SpanLives::Span SpanPeaks::Spans::span_at(std::uint64_t ticks) const
{
    if (ticks >= begin_ticks || done.empty())
        return {done.empty() ? 0 : done.back().number, number};
    const auto later = [](std::uint64_t a, const Done& b) { return a < b.begin_ticks; };
    const auto after = std::upper_bound(done.begin() + 1, done.end(), ticks, later);
    return {after - done.begin() > 1 ? (after - 2)->number : 0, (after - 1)->number};
}

std::vector<std::uint32_t> SpanPeaks::Spans::numbers() const
{
    std::vector<std::uint32_t> all;
    for (const Done& one : done)
        all.push_back(one.number);
    if (all.empty() || all.back() != number)
        all.push_back(number);
    return all;
}

void SpanPeaks::born(const Block& block)
{
    if (!is_device_memory(block.memory))
        return;
    const Site& site = sites_[block.site];
    const SiteShare before{block.site, site.live_bytes - block.bytes, site.live_blocks - 1};
    const DeviceMemory::Device& device = *memory_.device(block.device);
    Spans& spans =
        note({device, block.ticks, {&before, 1}, device.requested.current - block.bytes});
    ++spans.counts.sizes[static_cast<std::size_t>(std::bit_width(block.bytes))];
    lives_.born(block.site, spans.span_at(block.ticks), block.bytes);
}

void SpanPeaks::freed(const Block& block, std::uint64_t ticks)
{
    if (!is_device_memory(block.memory))
        return;
    const std::uint64_t now = clock_.ns(ticks);
    const std::uint64_t life = now - std::min(clock_.ns(block.ticks), now);
    ++note_left(block, ticks).counts.lifetimes[ChurnCounts::bin_of(life)];
}

void SpanPeaks::gone(const Block& block, std::uint64_t ticks)
{
    if (is_device_memory(block.memory))
        note_left(block, ticks);
}

SpanPeaks::Spans& SpanPeaks::note_left(const Block& block, std::uint64_t ticks)
{
    const Site& site = sites_[block.site];
    const SiteShare before{block.site, site.live_bytes + block.bytes, site.live_blocks + 1};
    const DeviceMemory::Device& device = *memory_.device(block.device);
    Spans& spans = note({device, ticks, {&before, 1}, device.requested.current + block.bytes});
    lives_.left(block.site, spans.span_at(block.ticks), spans.number, block.bytes);
    return spans;
}

void SpanPeaks::context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks)
{
    for (const DeviceMemory::Device& device : memory_.devices()) {
        std::vector<SiteShare> before;
        std::uint64_t level = device.requested.current;
        for (const SiteLoss& loss : losses) {
            const Site& site = sites_[loss.site];
            if (!is_of(site, device.index))
                continue;
            before.push_back(
                {loss.site, site.live_bytes + loss.bytes, site.live_blocks + loss.blocks});
            level += loss.bytes;
        }
        if (before.empty())
            continue;
        const std::uint32_t now = note({device, ticks, before, level}).number;
        for (const SiteShare& share : before)
            lives_.all_left(share.site, now);
    }
}

SpanPeaks::Spans& SpanPeaks::note(const Change& change)
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
    const bool after_a_gap = now.ticks - spans.last_ticks > share + 1;
    // What happened at one time is in one span: by its time alone it is known where a block came.
    if (now.ticks > spans.last_ticks &&
        (after_a_gap || now.ticks - spans.begin_ticks > share ||
         spans.events - spans.begin_events > spans.events / kSpanParts))
        turn(spans, now, after_a_gap);
    spans.last_ticks = now.ticks;
    ++spans.events;
    if (now.device.requested.current <= spans.high)
        return spans;
    spans.high = now.device.requested.current;
    spans.high_ticks = now.ticks;
    spans.moment = ++moments_;
    return spans;
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
    const std::uint64_t gap_begin = spans.last_ticks + 1;
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
    ++spans.number;
    spans.counts = {};
    spans.begin_ticks = begin_ticks;
    spans.begin_events = spans.events;
    spans.high = level;
    spans.high_ticks = begin_ticks;
    spans.moment = ++moments_;
}

void SpanPeaks::close(Spans& spans, const DeviceMemory::Device& device, std::uint64_t end_ticks)
{
    Done peak{std::move(spans.counts)};
    peak.number = spans.number;
    peak.begin_ticks = spans.begin_ticks;
    peak.ticks = spans.high_ticks;
    peak.events = spans.events - spans.begin_events;
    peak.ticks_long = end_ticks - spans.begin_ticks;
    const std::vector<Site>& sites = sites_.all();
    for (SiteId at = 0; at < sites.size(); ++at) {
        const Site& site = sites[at];
        if (!is_of(site, device.index))
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
    spans.done.push_back(std::move(peak));
    if (spans.done.size() > most_spans_)
        spans.join_least();
    join_grown(device.index);
    bound_sums();
}

bool SpanPeaks::is_of(const Site& site, std::size_t device) const
{
    const DeviceMemory::Device* const known = memory_.device(site.device);
    return is_device_memory(site.memory) && known && known->index == device;
}

void SpanPeaks::join_grown(std::size_t device)
{
    const std::vector<std::uint32_t> numbers = spans_[device].numbers();
    std::erase_if(lives_.grown(), [&](SiteId site) {
        if (!is_of(sites_[site], device))
            return false;
        lives_.join(site, numbers);
        return true;
    });
}

void SpanPeaks::join_all()
{
    for (std::size_t device = 0; device < spans_.size(); ++device) {
        while (spans_[device].done.size() > most_spans_)
            spans_[device].join_least();
        const std::vector<std::uint32_t> numbers = spans_[device].numbers();
        for (SiteId at = 0; at < sites_.all().size(); ++at) {
            if (is_of(sites_[at], device))
                lives_.join(at, numbers);
        }
    }
}

void SpanPeaks::bound_sums()
{
    if (lives_.sums() <= kMostSums)
        return;
    join_all();
    while (lives_.sums() > kMostSums / 2 && most_spans_ > kFewestSpans) {
        most_spans_ /= 2;
        join_all();
    }
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
        if (end.ticks - spans.last_ticks > share + 1)
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

std::map<SiteId, std::vector<SpanLife>> SpanPeaks::lives_of_device(std::size_t index) const
{
    std::map<SiteId, std::vector<SpanLife>> lives;
    if (index >= spans_.size())
        return lives;
    const std::vector<std::uint32_t> numbers = spans_[index].numbers();
    for (SiteId at = 0; at < sites_.all().size(); ++at) {
        if (is_of(sites_[at], index))
            lives.emplace(at, lives_.of(at, numbers));
    }
    return lives;
}

} // namespace vramscope::report
