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
void SpanPeaks::Spans::join_least(std::size_t first)
{
    const double all_events = static_cast<double>(events) + 1;
    const double all_ticks = static_cast<double>(last_ticks - first_ticks) + 1;
    const auto share = [&](std::size_t at) {
        return static_cast<double>(done[at].events + done[at + 1].events) / all_events +
               static_cast<double>(done[at].ticks_long + done[at + 1].ticks_long) / all_ticks;
    };
    std::size_t least = first;
    for (std::size_t at = first + 1; at + 1 < done.size(); ++at) {
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

std::size_t SpanPeaks::place_of(format::Memory memory, std::int32_t device) const
{
    const format::MemoryClass kind = class_of(memory);
    if (kind == format::MemoryClass::host)
        return kHost;
    const DeviceMemory::Device* const known =
        kind == format::MemoryClass::device ? memory_.device(device) : nullptr;
    return known ? place_of_device(known->index) : kNone;
}

std::uint64_t SpanPeaks::bytes_of(std::size_t place) const
{
    return place == kHost ? host_bytes_ : memory_.devices()[place - 1].requested.current;
}

void SpanPeaks::begin(std::uint64_t ticks)
{
    begun_ = ticks;
    for (SiteId at = 0; at < sites_.all().size(); ++at) {
        const Site& site = sites_[at];
        const std::size_t place = place_of(site.memory, site.device);
        if (place == kNone || site.live_blocks == 0)
            continue;
        if (place == kHost)
            host_bytes_ += site.live_bytes;
        lives_.begin_with(at, site.live_blocks, site.live_bytes);
        spans_.resize(std::max(spans_.size(), place + 1));
    }
    for (std::size_t place = 0; place < spans_.size(); ++place)
        begin_at(place);
}

// Nothing is open then: the next span begins with the next event.
void SpanPeaks::begin_at(std::size_t place)
{
    Spans& spans = spans_[place];
    const std::uint64_t bytes = bytes_of(place);
    if (bytes == 0)
        return;
    open(spans, *begun_, bytes);
    close(spans, place, *begun_);
    spans.moment = 0;
}

void SpanPeaks::born(const Block& block)
{
    const std::size_t place = place_of(block.memory, block.device);
    if (place == kNone)
        return;
    if (place == kHost)
        host_bytes_ += block.bytes;
    const Site& site = sites_[block.site];
    const SiteShare before{block.site, site.live_bytes - block.bytes, site.live_blocks - 1};
    const std::uint64_t now = bytes_of(place);
    Spans& spans = note({place, now, block.ticks, {&before, 1}, now - block.bytes});
    ++spans.counts.sizes[static_cast<std::size_t>(std::bit_width(block.bytes))];
    lives_.born(block.site, spans.span_at(block.ticks), block.bytes);
}

void SpanPeaks::freed(const Block& block, std::uint64_t ticks)
{
    const std::size_t place = place_of(block.memory, block.device);
    if (place == kNone)
        return;
    const std::uint64_t now = clock_.ns(ticks);
    const std::uint64_t life = now - std::min(clock_.ns(block.ticks), now);
    ++note_left(place, block, ticks).counts.lifetimes[ChurnCounts::bin_of(life)];
}

void SpanPeaks::gone(const Block& block, std::uint64_t ticks)
{
    if (const std::size_t place = place_of(block.memory, block.device); place != kNone)
        note_left(place, block, ticks);
}

SpanPeaks::Spans& SpanPeaks::note_left(std::size_t place, const Block& block, std::uint64_t ticks)
{
    if (place == kHost)
        host_bytes_ -= std::min(host_bytes_, block.bytes); // its size may have been unknown
    const Site& site = sites_[block.site];
    const SiteShare before{block.site, site.live_bytes + block.bytes, site.live_blocks + 1};
    const std::uint64_t now = bytes_of(place);
    Spans& spans = note({place, now, ticks, {&before, 1}, now + block.bytes});
    lives_.left(block.site, spans.span_at(block.ticks), spans.number, block.bytes);
    return spans;
}

void SpanPeaks::context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks)
{
    for (std::size_t place = 0; place <= memory_.devices().size(); ++place) {
        std::vector<SiteShare> before;
        std::uint64_t lost = 0;
        for (const SiteLoss& loss : losses) {
            const Site& site = sites_[loss.site];
            if (place_of(site.memory, site.device) != place)
                continue;
            before.push_back(
                {loss.site, site.live_bytes + loss.bytes, site.live_blocks + loss.blocks});
            lost += loss.bytes;
        }
        if (before.empty())
            continue;
        if (place == kHost)
            host_bytes_ -= std::min(host_bytes_, lost);
        const std::uint64_t now = bytes_of(place);
        const std::uint32_t number = note({place, now, ticks, before, now + lost}).number;
        for (const SiteShare& share : before)
            lives_.all_left(share.site, number);
    }
}

SpanPeaks::Spans& SpanPeaks::note(const Change& change)
{
    spans_.resize(std::max(spans_.size(), change.place + 1));
    Spans& spans = spans_[change.place];
    if (spans.moment == 0) {
        const std::uint64_t least = begun_ ? *begun_ + 1 : 0;
        spans.first_ticks = spans.last_ticks = std::max(change.ticks, least);
        open(spans, spans.first_ticks, change.bytes);
    } else {
        save(spans, change.before);
    }
    // What comes late is as late as the event before it.
    const Change now{change.place, change.bytes, std::max(change.ticks, spans.last_ticks),
                     change.before, change.level};
    const std::uint64_t share = (now.ticks - spans.first_ticks) / kSpanParts;
    const bool after_a_gap = now.ticks - spans.last_ticks > share + 1;
    // What happened at one time is in one span: by its time alone it is known where a block came.
    if (now.ticks > spans.last_ticks &&
        (after_a_gap || now.ticks - spans.begin_ticks > share ||
         spans.events - spans.begin_events > spans.events / kSpanParts))
        turn(spans, now, after_a_gap);
    spans.last_ticks = now.ticks;
    ++spans.events;
    if (now.bytes <= spans.high)
        return spans;
    spans.high = now.bytes;
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
    close(spans, change.place, after_a_gap ? gap_begin : change.ticks);
    if (after_a_gap) {
        open(spans, gap_begin, change.level);
        save(spans, change.before);
        close(spans, change.place, change.ticks);
    }
    open(spans, change.ticks, change.bytes);
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

void SpanPeaks::close(Spans& spans, std::size_t place, std::uint64_t end_ticks)
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
        if (place_of(site.memory, site.device) != place)
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
        spans.join_least(first_joined());
    join_grown(place);
    bound_sums();
}

void SpanPeaks::join_grown(std::size_t place)
{
    const std::vector<std::uint32_t> numbers = spans_[place].numbers();
    std::erase_if(lives_.grown(), [&](SiteId site) {
        if (place_of(sites_[site].memory, sites_[site].device) != place)
            return false;
        lives_.join(site, numbers);
        return true;
    });
}

void SpanPeaks::join_all()
{
    for (std::size_t place = 0; place < spans_.size(); ++place) {
        while (spans_[place].done.size() > most_spans_)
            spans_[place].join_least(first_joined());
        const std::vector<std::uint32_t> numbers = spans_[place].numbers();
        for (SiteId at = 0; at < sites_.all().size(); ++at) {
            if (place_of(sites_[at].memory, sites_[at].device) == place)
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
    for (std::size_t place = 0; place < spans_.size(); ++place) {
        Spans& spans = spans_[place];
        if (spans.moment == 0)
            continue;
        const std::uint64_t now = bytes_of(place);
        const Change end{place, now, std::max(end_ticks, spans.last_ticks), {}, now};
        const std::uint64_t share = (end.ticks - spans.first_ticks) / kSpanParts;
        if (end.ticks - spans.last_ticks > share + 1)
            turn(spans, end, true);
        close(spans, place, end.ticks);
    }
}

std::vector<SpanPeak> SpanPeaks::of(std::size_t place) const
{
    if (place >= spans_.size())
        return {};
    return {spans_[place].done.begin(), spans_[place].done.end()};
}

std::map<SiteId, std::vector<SpanLife>> SpanPeaks::lives_of(std::size_t place) const
{
    std::map<SiteId, std::vector<SpanLife>> lives;
    if (place >= spans_.size())
        return lives;
    const std::vector<std::uint32_t> numbers = spans_[place].numbers();
    for (SiteId at = 0; at < sites_.all().size(); ++at) {
        if (place_of(sites_[at].memory, sites_[at].device) == place)
            lives.emplace(at, lives_.of(at, numbers));
    }
    return lives;
}

} // namespace vramscope::report
