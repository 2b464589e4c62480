// report/replay/taken_by_driver.cpp — sums per site, and of what is alive.
#include "report/replay/taken_by_driver.hpp"

#include <algorithm>

#include "report/log/device_ordinal.hpp"

namespace vramscope::report {
namespace {

bool takes_memory(format::Memory memory) noexcept
{
    return driver_takes(memory) != format::DriverTakes::nothing;
}

} // namespace

void TakenByDriver::born(const Block& block)
{
    if (!takes_memory(block.memory))
        return;
    Device& device = devices_[device_ordinal(block.device)];
    device.address = block.address;
    device.api = block.api;
    device.site = block.site;
    ++device.changes;
}

bool TakenByDriver::ended(const Block& block)
{
    if (!takes_memory(block.memory))
        return false;
    ++devices_[device_ordinal(block.device)].changes;
    if (block.memory == format::Memory::context_limit)
        return false; // it was set again: what was taken for it stays with the context
    const auto kept = alive_.find({block.site, block.address});
    if (kept == alive_.end())
        return false;
    forget(kept);
    return true;
}

std::map<TakenByDriver::Key, TakenByDriver::Kept>::iterator
TakenByDriver::forget(std::map<Key, Kept>::iterator kept)
{
    std::uint64_t& objects = devices_[kept->second.device].objects;
    objects -= std::min(objects, kept->second.bytes);
    return alive_.erase(kept);
}

bool TakenByDriver::died(SiteId site)
{
    auto kept = alive_.lower_bound({site, 0});
    const bool has_some = kept != alive_.end() && kept->first.first == site;
    while (kept != alive_.end() && kept->first.first == site)
        kept = forget(kept);
    return has_some;
}

std::optional<std::int32_t> TakenByDriver::apply(const Record& record)
{
    if (const auto defined = record.as<format::Context>()) {
        if (contexts_.size() < kMostKept)
            contexts_.try_emplace(defined->id, Kept{device_ordinal(defined->device), 0});
        return std::nullopt;
    }
    const auto opened = record.as<format::ContextOpened>();
    const auto gone = record.as<format::ContextGone>();
    const auto known =
        opened || gone ? contexts_.find(opened ? opened->context : gone->context) : contexts_.end();
    if (known == contexts_.end())
        return std::nullopt;
    const std::int32_t ordinal = known->second.device;
    Device& device = devices_[ordinal];
    ++device.changes;
    std::uint64_t& bytes = known->second.bytes;
    device.contexts -= std::min(device.contexts, bytes);
    if (gone) {
        contexts_.erase(known);
        return ordinal;
    }
    if (bytes == 0)
        bytes = opened->free_before - std::min(opened->free_before, opened->free_after);
    device.contexts += bytes;
    return ordinal;
}

// Nothing of the process happened since the last measurement: if there is more or less free now,
// others moved.
void TakenByDriver::note_others(Device& device, std::uint64_t free, std::uint64_t ticks)
{
    const std::uint64_t moved = std::max(free, device.free) - std::min(free, device.free);
    device.others.moves += moved != 0;
    device.others.largest = std::max(device.others.largest, moved);
    device.others.ticks += ticks - device.ticks;
}

// What the process itself reserves or gives back between two measurements may share a step with
// objects; what it does within one is in both answers, and so nothing is measured.
void TakenByDriver::measured(const format::ObjectMemory& said, std::uint64_t ticks,
                             std::uint64_t reserved_ticks)
{
    const std::int32_t ordinal = device_ordinal(said.device);
    Device& device = devices_[ordinal];
    if (device.address != said.address || device.api != said.api.value)
        return; // of another object, or of none: a log can say anything
    const std::uint64_t began = ticks - std::min<std::uint64_t>(ticks, said.took);
    const bool nothing_between = device.changes == 1 && device.ticks != 0 &&
                                 device.ticks <= began && reserved_ticks <= device.ticks;
    if (nothing_between)
        note_others(device, said.free_before, began);
    if (reserved_ticks < began)
        add(device, ordinal, said,
            nothing_between && device.last_site == device.site && device.free == said.free_before);
    device.changes = 0;
    device.ticks = ticks;
    device.free = said.free_after;
    device.last_site = device.site;
}

void TakenByDriver::add(Device& device, std::int32_t ordinal, const format::ObjectMemory& said,
                        bool in_a_row)
{
    const std::uint64_t least = std::min(said.free_before, said.free_after);
    const std::uint64_t fell = said.free_before - least;
    const std::uint64_t rose = said.free_after - least;
    sites_[device.site].join({.objects = 1,
                              .fell = fell,
                              .rose = rose,
                              .largest_rise = rose,
                              .runs = in_a_row ? 0U : 1U,
                              .ticks = said.took});
    const Key object{device.site, device.address};
    if (fell == 0 || (alive_.size() >= kMostKept && !alive_.contains(object)))
        return;
    alive_.try_emplace(object, Kept{ordinal, 0}).first->second.bytes += fell;
    device.objects += fell;
}

MeasuredObjects TakenByDriver::of(SiteId site) const
{
    const auto known = sites_.find(site);
    return known == sites_.end() ? MeasuredObjects{} : known->second;
}

TakenByDriver::Device TakenByDriver::on(std::int32_t ordinal) const
{
    const auto known = devices_.find(ordinal);
    return known == devices_.end() ? Device{} : known->second;
}

} // namespace vramscope::report
