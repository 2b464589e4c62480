// report/replay/pool/segment_replay.cpp — one case for each record.
#include "report/replay/pool/segment_replay.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "report/log/device_ordinal.hpp"
#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

using format::Tag;

namespace {

constexpr std::uint64_t kMostStale = 4096;

} // namespace

void SegmentReplay::prefetch(std::span<const Record> soon) noexcept
{
    if (segments_.empty())
        return;
    std::array<std::uint64_t, kMostAhead> addresses;
    std::size_t count = 0;
    for (const Record& record : soon) {
        if (record.tag == Tag::alloc || record.tag == Tag::free)
            addresses[count++] = record.address - red_zone_bytes_;
    }
    segments_.prefetch({addresses.data(), count});
}

void SegmentReplay::apply_rare(const Record& record)
{
    switch (record.tag) {
    case Tag::segment:
        return add_segment(record);
    case Tag::segment_gone:
        return drop_segment(record);
    case Tag::reusable:
        return reuse(record);
    case Tag::retried:
        return count_retry(record);
    case Tag::out_of_memory:
        return count_shortage(record);
    case Tag::context_gone:
        return drop_context(record);
    case Tag::context:
        if (const auto context = record.as<format::Context>())
            device_of_context_[context->id] = context->device;
        return;
    default:
        return;
    }
}

std::size_t SegmentReplay::index_of(std::int64_t device)
{
    device = device_ordinal(device);
    const auto [found, added] = index_of_device_.try_emplace(device, devices_.size());
    if (added) {
        devices_.emplace_back();
        devices_.back().device = static_cast<std::int32_t>(device);
        devices_.back().stats.num_sync_all_streams = own_synchronisations_;
    }
    return found->second;
}

const DevicePool* SegmentReplay::device(std::int32_t ordinal) const noexcept
{
    const auto found = index_of_device_.find(ordinal);
    return found == index_of_device_.end() ? nullptr : &devices_[found->second];
}

// The pool's policy says which segments are for small blocks: those of 2 MiB where it splits, and
// blocks of up to 1 MiB where each is a segment.
void SegmentReplay::read_settings()
{
    const auto& info = tables_.info();
    for (; settings_read_ < info.size(); ++settings_read_) {
        const auto& [key, value] = info[settings_read_];
        if (key == "pool.mode")
            small_segment_bytes_ = std::uint64_t{value == "split" ? 2u : 1u} << 20;
        if (key == "pool.guard")
            red_zone_bytes_ = value == "on" ? format::kRedZoneBytes : 0;
        std::uint64_t mib = 0;
        if (key == "pool.max_split_size_mb" &&
            std::from_chars(value.data(), value.data() + value.size(), mib).ec == std::errc() &&
            mib < UINT64_MAX >> 20)
            max_split_bytes_ = mib << 20;
    }
}

// What `change` does to the segment, in the counters of free pieces and of all bytes.
template <typename Change>
void SegmentReplay::change(Segment& segment, std::uint64_t ticks, Change change)
{
    DevicePool& device = devices_[segment.device];
    const std::uint64_t gaps = segment.split_gaps();
    const std::uint64_t bytes = segment.split_bytes();
    change(device);
    if (!device.changed)
        changed_.push_back(segment.device);
    device.changed = true;
    const bool small = segment.small;
    if (gaps != segment.split_gaps())
        device.stats.inactive_split.change(small, gaps, segment.split_gaps());
    if (bytes != segment.split_bytes())
        device.stats.inactive_split_bytes.change(small, bytes, segment.split_bytes());
    device.timeline.add(ticks, device.stats.allocated_bytes.all.current,
                        device.stats.active_bytes.all.current,
                        device.stats.reserved_bytes.all.current);
}

void SegmentReplay::add_segment(const Record& record)
{
    seen_ = true;
    read_settings();
    const auto logged = record.as<format::Segment>();
    if (!logged)
        return;
    Segment segment;
    segment.address = logged->address;
    segment.bytes = std::min(logged->bytes, UINT64_MAX - segment.address);
    segment.context = logged->context;
    std::int64_t device = logged->device;
    if (segment.bytes == 0)
        return;
    if (const auto known = device_of_context_.find(segment.context);
        device < 0 && known != device_of_context_.end())
        device = known->second;
    // The driver gave these addresses out again, so their old segment went without being seen.
    while (Segment* const old = segments_.overlapping(segment.address, segment.end()))
        drop(*old, record.ticks);
    segment.device = static_cast<std::uint32_t>(index_of(device));
    segment.small = segment.bytes <= small_segment_bytes_;
    segment.born_ticks = record.ticks;
    segment.born = ++serial_;
    Segment& added = segments_.add(std::move(segment));
    change(added, record.ticks, [&](DevicePool& pool) {
        pool.stats.segment.rise(added.small, 1);
        pool.stats.reserved_bytes.rise(added.small, added.bytes);
        ++pool.stats.num_device_alloc;
        if (added.bytes >= max_split_bytes_)
            pool.stats.oversize_segments.rise(1);
    });
}

void SegmentReplay::drop(Segment& segment, std::uint64_t ticks)
{
    ++serial_;
    change(segment, ticks, [&](DevicePool& pool) {
        while (!segment.blocks.empty())
            leave(segment, segment.blocks.place_of(0));
        pool.stats.segment.fall(segment.small, 1);
        pool.stats.reserved_bytes.fall(segment.small, segment.bytes);
        if (segment.bytes >= max_split_bytes_)
            pool.stats.oversize_segments.fall(1);
        pool.since_peak.segment_leaves(segment);
    });
    segments_.remove(segment);
}

void SegmentReplay::drop_segment(const Record& record)
{
    const auto gone = record.as<format::SegmentGone>();
    Segment* const segment = gone ? segments_.at(gone->address) : nullptr;
    if (!segment || record.ticks < segment->born_ticks)
        return; // it ends the segment before, whose place was taken
    ++devices_[segment->device].stats.num_device_free;
    drop(*segment, record.ticks);
}

void SegmentReplay::drop_context(const Record& record)
{
    const auto gone = record.as<format::ContextGone>();
    if (!gone || gone->context == 0)
        return; // 0: segments of unknown contexts are not this one's
    for (const std::uint64_t address : segments_.of_context(gone->context))
        drop(*segments_.at(address), record.ticks);
}

void SegmentReplay::allocate(const Record& record)
{
    seen_ = true;
    const std::uint64_t address = record.address - red_zone_bytes_;
    Segment* const segment = segments_.containing(address);
    const std::uint64_t bytes = record.bytes + std::min(record.slack, UINT64_MAX - record.bytes);
    if (!segment || bytes == 0) {
        ++outside_;
        return;
    }
    PoolBlock block;
    block.address = address;
    block.bytes = std::min(bytes, segment->end() - address);
    block.requested = std::min(record.bytes, block.bytes);
    block.born_ticks = record.ticks;
    block.stack = record.stack;
    block.api = record.api;
    const std::uint64_t end = address + block.bytes;
    change(*segment, record.ticks, [&](DevicePool& pool) {
        Segment::Beside beside = segment->beside(address);
        while (const PoolBlock* const old = segment->overlapping(beside, address, end)) {
            // it was reusable, or its free was not seen
            leave(*segment, segment->blocks.place_of(old->address));
            beside = segment->beside(address);
        }
        block.born = ++serial_;
        segment->insert(beside, block);
        PoolStats& stats = pool.stats;
        const std::uint64_t peak = stats.allocated_bytes.all.peak;
        stats.allocation.rise(segment->small, 1);
        stats.active.rise(segment->small, 1);
        stats.allocated_bytes.rise(segment->small, block.bytes);
        stats.active_bytes.rise(segment->small, block.bytes);
        stats.requested_bytes.rise(segment->small, block.requested);
        if (block.bytes >= max_split_bytes_)
            stats.oversize_allocations.rise(1);
        if (stats.allocated_bytes.all.peak > peak)
            pool.since_peak.peak_at(serial_, record.ticks);
    });
}

SegmentReplay::Found SegmentReplay::find_in(Segment* segment, std::uint64_t address) noexcept
{
    Found found;
    found.segment = segment;
    if (segment) {
        found.place = segment->blocks.place_of(address);
        found.block = segment->blocks.find(found.place, address);
    }
    return found;
}

SegmentReplay::Found SegmentReplay::find_waiting(const WaitingBlock& waiting) noexcept
{
    Found found = find_in(segments_.numbered(waiting.segment, waiting.address), waiting.address);
    if (found.block && found.block->freed != waiting.freed)
        found.block = nullptr;
    return found;
}

void SegmentReplay::free(const Record& record)
{
    const auto& apis = tables_.apis();
    if (record.api >= apis.size() ||
        format::key_space(apis[record.api].memory) != format::KeySpace::pointer)
        return;
    const std::uint64_t address = record.address - red_zone_bytes_;
    const Found found = find_in(segments_.containing(address), address);
    PoolBlock* const block = found.block;
    if (!block || block->pending() || record.ticks < block->born_ticks)
        return;
    change(*found.segment, record.ticks, [&](DevicePool& pool) {
        block->freed = ++serial_;
        no_longer_allocated(pool.stats, *found.segment, *block);
        ++pending_;
        if (record.ticks <= reusable_ticks_)
            return leave(*found.segment, found.place);
        waiting_.add({record.ticks, address, block->freed, found.segment->number});
    });
    if (waiting_.size() > 2 * pending_ + kMostStale)
        waiting_.forget_if([this](const WaitingBlock& one) { return !find_waiting(one).block; });
}

void SegmentReplay::no_longer_allocated(PoolStats& stats, const Segment& segment,
                                        const PoolBlock& block) const
{
    stats.allocation.fall(segment.small, 1);
    stats.allocated_bytes.fall(segment.small, block.bytes);
    stats.requested_bytes.fall(segment.small, block.requested);
    if (block.bytes >= max_split_bytes_)
        stats.oversize_allocations.fall(1);
}

// The block is free from here, whatever it was.
void SegmentReplay::leave(Segment& segment, const PoolBlocks::Place& place)
{
    const PoolBlock block = segment.erase(place);
    DevicePool& pool = devices_[segment.device];
    pool.stats.active.fall(segment.small, 1);
    pool.stats.active_bytes.fall(segment.small, block.bytes);
    if (block.pending())
        --pending_;
    else
        no_longer_allocated(pool.stats, segment, block);
    pool.since_peak.block_leaves(block);
}

void SegmentReplay::reuse(const Record& record)
{
    seen_ = true;
    const auto reusable = record.as<format::Reusable>();
    if (!reusable)
        return;
    own_synchronisations_ += reusable->own;
    for (DevicePool& pool : devices_)
        pool.stats.num_sync_all_streams += reusable->own;
    const std::uint64_t age = std::min<std::uint64_t>(reusable->age, record.ticks);
    reusable_ticks_ = std::max(reusable_ticks_, record.ticks - age);
    ++serial_;
    waiting_.release_up_to(
        reusable_ticks_, [this](std::span<const WaitingBlock> next) { prefetch(next); },
        [&](const WaitingBlock& waiting) {
            const Found found = find_waiting(waiting);
            if (found.block)
                change(*found.segment, record.ticks,
                       [&](DevicePool&) { leave(*found.segment, found.place); });
        });
}

void SegmentReplay::prefetch(std::span<const WaitingBlock> next) noexcept
{
    std::array<std::uint64_t, kMostAhead> addresses;
    std::array<std::size_t, kMostAhead> segments;
    for (std::size_t at = 0; at < next.size(); ++at) {
        addresses[at] = next[at].address;
        segments[at] = next[at].segment;
    }
    segments_.prefetch({addresses.data(), next.size()}, {segments.data(), next.size()});
}

void SegmentReplay::count_retry(const Record& record)
{
    seen_ = true;
    if (const auto retried = record.as<format::Retried>())
        ++devices_[index_of(retried->device)].stats.num_alloc_retries;
}

void SegmentReplay::count_shortage(const Record& record)
{
    const auto& apis = tables_.apis();
    if (record.api < apis.size() && apis[record.api].memory == format::Memory::suballocated)
        return; // another allocator's, over this one
    if (const auto shortage = record.as<format::OutOfMemory>())
        ++devices_[index_of(shortage->device)].stats.num_ooms;
}

PoolSnapshot SegmentReplay::now(const DevicePool& device) const
{
    return snapshot_of(segments_of(device), 0);
}

PoolSnapshot SegmentReplay::at_peak(const DevicePool& device) const
{
    return device.since_peak.peak(segments_of(device));
}

std::vector<const Segment*> SegmentReplay::segments_of(const DevicePool& device) const
{
    std::vector<const Segment*> segments;
    segments_.for_each([&](const Segment& segment) {
        if (&devices_[segment.device] == &device)
            segments.push_back(&segment);
    });
    return segments;
}

// Segments have other numbers than they had: blocks that wait are found by their addresses. What
// waits no longer is forgotten.
bool SegmentReplay::rebuild()
{
    for (std::size_t at = 0; at < devices_.size(); ++at) {
        devices_[at].changed = false;
        if (devices_[at].device != device_ordinal(devices_[at].device) ||
            !index_of_device_.try_emplace(devices_[at].device, at).second)
            return false;
    }
    waiting_.rebuild([this](WaitingBlock& one) {
        const Segment* const segment = segments_.containing(one.address);
        one.segment = segment ? segment->number : 0;
        return segment && find_waiting(one).block;
    });
    bool sound = true;
    segments_.for_each(
        [&](const Segment& segment) { sound = sound && segment.device < devices_.size(); });
    return sound;
}

} // namespace vramscope::report
