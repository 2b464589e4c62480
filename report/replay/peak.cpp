// report/replay/peak.cpp — what a site or a phase was at the peak is saved before it changes.
#include "report/replay/peak.hpp"

#include <algorithm>

namespace vramscope::report {

namespace {

bool on_device(format::Memory memory) noexcept
{
    return class_of(memory) == format::MemoryClass::device;
}

} // namespace

// `bytes` and `blocks`: what the site had before the change.
PeakHolders::AtPeak& PeakHolders::save(SiteId number, const DeviceMemory::Device& device,
                                       std::uint64_t bytes, std::uint64_t blocks)
{
    AtPeak& site = sites_.of(number);
    if (site.peak != device.peaks) {
        site.peak = device.peaks;
        site.bytes = bytes;
        site.blocks = blocks;
        site.copied = 0;
    }
    return site;
}

void PeakHolders::born(const Block& block)
{
    if (!on_device(block.memory))
        return;
    const Site& now = heap_.sites()[block.site];
    AtPeak& site = save(block.site, *memory_.device(block.device), now.live_bytes - block.bytes,
                        now.live_blocks - 1);
    if (block.bytes > 0 && site.last_freed == block.bytes) {
        site.pairs_differ = site.pairs_differ || (site.pairs > 0 && site.pair_bytes != block.bytes);
        site.pair_bytes = block.bytes;
        ++site.pairs;
    }
    site.last_freed = 0;
    site.before_ticks = site.newest_ticks;
    site.newest_ticks = block.ticks;
    site.newest_bytes = block.bytes;
}

void PeakHolders::freed(const Block& block, std::uint64_t)
{
    if (!on_device(block.memory))
        return;
    const Site& now = heap_.sites()[block.site];
    const DeviceMemory::Device& device = *memory_.device(block.device);
    const bool first = block.site >= sites_.size() || sites_[block.site].peak != device.peaks;
    AtPeak& site = save(block.site, device, now.live_bytes + block.bytes, now.live_blocks + 1);
    site.last_freed = block.bytes;
    if (first && site.newest_ticks == device.peak.ticks && site.before_ticks == block.ticks &&
        site.newest_bytes > block.bytes)
        site.copied = block.bytes;
    if (block.ticks > device.peak.ticks || device.peaks == 0)
        return;
    Gone& gone = gone_since_peak(block, device);
    const Later later = kept_for(now.phase, device);
    if (later.unseen != 0) {
        gone.early_bytes += block.bytes;
        ++gone.early_blocks;
        if (gone.early_phase == 0)
            gone.early_phase = later.unseen;
    } else if (later.known == 0) {
        gone.late_bytes += block.bytes;
        ++gone.late_blocks;
    }
}

// The block was there at the peak, and is gone now.
PeakHolders::Gone& PeakHolders::gone_since_peak(const Block& block,
                                                const DeviceMemory::Device& device)
{
    Gone& gone = gone_.of(block.site);
    if (gone.peak != device.peaks)
        gone = {.peak = device.peaks};
    gone.bytes += block.bytes;
    ++gone.blocks;
    return gone;
}

bool PeakHolders::seen_after(PhaseKind kind, std::uint64_t ticks) const
{
    return kind < kinds_.size() && kinds_[kind].seen && kinds_[kind].first_ticks > ticks;
}

// The phase behind the peak that a block of this phase, which is freed now, may have been kept for.
// What begins inside of a phase that was open at the peak is no later one: only those are looked at
// that are no deeper than the block's own.
PeakHolders::Later PeakHolders::kept_for(PhaseKind phase, const DeviceMemory::Device& device) const
{
    if (phase == 0 || phase >= kinds_.size())
        return {};
    const PhaseKind now = heap_.phases().kind(heap_.phases().current(thread_));
    if (now != phase && seen_after(now, device.peak.ticks))
        return {.unseen = now};
    if (!was_over(phase, device.index))
        return {};
    Later kept;
    if (now != phase && was_over(now, device.index))
        kept.known = now;
    if (device.index >= after_peak_.size() || after_peak_[device.index].peak != device.peaks)
        return kept;
    const std::vector<Later>& by_depth = after_peak_[device.index].by_depth;
    for (std::size_t at = 0; at < std::min(by_depth.size(), kinds_[phase].depth); ++at) {
        if (by_depth[at].unseen != 0)
            kept.unseen = by_depth[at].unseen;
        if (by_depth[at].known != 0 && by_depth[at].known != phase)
            kept.known = by_depth[at].known;
    }
    return kept;
}

void PeakHolders::gone(const Block& block, std::uint64_t)
{
    if (!on_device(block.memory))
        return;
    const Site& site = heap_.sites()[block.site];
    const DeviceMemory::Device& device = *memory_.device(block.device);
    save(block.site, device, site.live_bytes + block.bytes, site.live_blocks + 1);
    if (block.ticks <= device.peak.ticks && device.peaks > 0) {
        Gone& gone = gone_since_peak(block, device);
        gone.late_bytes += block.bytes;
        ++gone.late_blocks;
    }
}

void PeakHolders::context_gone(std::span<const SiteLoss> losses, std::uint64_t)
{
    for (const SiteLoss& loss : losses) {
        const Site& site = heap_.sites()[loss.site];
        if (on_device(site.memory))
            save(loss.site, *memory_.device(site.device), site.live_bytes + loss.bytes,
                 site.live_blocks + loss.blocks);
    }
}

PeakHolders::Kind& PeakHolders::kind_at(std::uint32_t thread)
{
    const PhaseKind kind = heap_.phases().kind(heap_.phases().current(thread));
    if (kind >= kinds_.size())
        kinds_.resize(kind + 1);
    return kinds_[kind];
}

void PeakHolders::save(Kind& kind)
{
    const std::size_t devices = std::min(memory_.devices().size(), kMostDevices);
    kind.of_device.resize(devices);
    for (std::size_t at = 0; at < devices; ++at) {
        const std::uint64_t peak = memory_.devices()[at].peaks;
        if (kind.of_device[at].peak != peak)
            kind.of_device[at] = {peak, kind.open};
    }
}

void PeakHolders::open_phase(const Record& record)
{
    Kind& kind = kind_at(record.thread);
    save(kind);
    const PhaseKind number = heap_.phases().kind(heap_.phases().current(record.thread));
    if (!kind.seen) {
        kind.seen = true;
        kind.first_ticks = record.ticks;
        kind.depth = heap_.phases().kind_path(number).size();
    }
    note_later(kind, number);
    ++kind.open;
}

void PeakHolders::note_later(const Kind& kind, PhaseKind number)
{
    after_peak_.resize(std::max(after_peak_.size(), kind.of_device.size()));
    for (std::size_t at = 0; at < kind.of_device.size() && kind.depth > 0; ++at) {
        if (kind.of_device[at].ranges > 0)
            continue;
        const DeviceMemory::Device& device = memory_.devices()[at];
        AfterPeak& after = after_peak_[at];
        if (after.peak != device.peaks)
            after = {device.peaks, {}};
        after.by_depth.resize(std::max(after.by_depth.size(), kind.depth));
        Later& later = after.by_depth[kind.depth - 1];
        (kind.first_ticks > device.peak.ticks ? later.unseen : later.known) = number;
    }
}

void PeakHolders::close_phase(std::uint32_t thread)
{
    Kind& kind = kind_at(thread);
    save(kind);
    kind.open -= kind.open > 0;
}

bool PeakHolders::was_over(PhaseKind phase, std::size_t device) const
{
    if (phase == 0 || phase >= kinds_.size() || device >= kMostDevices)
        return false;
    const Kind& kind = kinds_[phase];
    const bool changed = device < kind.of_device.size() &&
                         kind.of_device[device].peak == memory_.devices()[device].peaks;
    return kind.seen && (changed ? kind.of_device[device].ranges : kind.open) == 0;
}

std::vector<std::vector<PeakHolding>> PeakHolders::at_peaks() const
{
    std::vector<std::vector<PeakHolding>> holdings(memory_.devices().size());
    const std::vector<Site>& sites = heap_.sites().all();
    for (SiteId at = 0; at < sites.size(); ++at) {
        if (!on_device(sites[at].memory))
            continue;
        const DeviceMemory::Device& device = *memory_.device(sites[at].device);
        const bool changed = at < sites_.size() && sites_[at].peak == device.peaks;
        const std::uint64_t bytes = changed ? sites_[at].bytes : sites[at].live_bytes;
        const std::uint64_t blocks = changed ? sites_[at].blocks : sites[at].live_blocks;
        if (device.peaks == 0 || blocks == 0)
            continue;
        const bool some_gone = at < gone_.size() && gone_[at].peak == device.peaks;
        const Gone gone = some_gone ? gone_[at] : Gone{};
        holdings[device.index].push_back({.site = at,
                                          .bytes = bytes,
                                          .blocks = blocks,
                                          .kept_bytes = bytes - std::min(bytes, gone.bytes),
                                          .kept_blocks = blocks - std::min(blocks, gone.blocks),
                                          .phase_was_over = was_over(sites[at].phase, device.index),
                                          .early_bytes = std::min(bytes, gone.early_bytes),
                                          .early_blocks = std::min(blocks, gone.early_blocks),
                                          .early_phase = gone.early_phase,
                                          .late_bytes = std::min(bytes, gone.late_bytes),
                                          .late_blocks = std::min(blocks, gone.late_blocks),
                                          .copied_bytes = changed ? sites_[at].copied : 0});
    }
    return holdings;
}

std::vector<std::vector<RepeatedPairs>> PeakHolders::repeated_pairs() const
{
    std::vector<std::vector<RepeatedPairs>> found(memory_.devices().size());
    const std::vector<Site>& sites = heap_.sites().all();
    for (SiteId at = 0; at < sites_.size(); ++at) {
        const AtPeak& site = sites_[at];
        if (site.pairs > 0)
            found[memory_.device(sites[at].device)->index].push_back(
                {at, site.pairs, site.pairs_differ ? 0 : site.pair_bytes});
    }
    return found;
}

bool PeakHolders::rebuild()
{
    const std::size_t sites = heap_.sites().all().size();
    const std::size_t kinds = heap_.phases().kinds();
    bool sound = sites_.size() <= sites && gone_.size() <= sites && kinds_.size() <= kinds &&
                 after_peak_.size() <= kMostDevices;
    for (SiteId site = 0; sound && site < sites_.size(); ++site)
        sound = sites_[site].pairs == 0 || memory_.device(heap_.sites()[site].device);
    for (SiteId site = 0; sound && site < gone_.size(); ++site)
        sound = gone_[site].early_phase < kinds;
    for (const AfterPeak& after : after_peak_)
        for (const Later& later : after.by_depth)
            sound = sound && later.unseen < kinds && later.known < kinds;
    for (const Kind& kind : kinds_)
        sound = sound && kind.of_device.size() <= kMostDevices && kind.depth <= kinds;
    return sound;
}

} // namespace vramscope::report
