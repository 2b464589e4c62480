// report/replay/taken_by_driver.cpp — sums per site, and of what is alive.
#include "report/replay/taken_by_driver.hpp"

#include <algorithm>

#include "report/log/device_ordinal.hpp"

namespace vramscope::report {
namespace {

// The others, events and graphs, have nothing of a device.
bool takes_memory(format::Memory memory) noexcept
{
    using format::Memory;
    return memory == Memory::stream || memory == Memory::graph_exec || memory == Memory::module ||
           memory == Memory::library || memory == Memory::context;
}

} // namespace

void TakenByDriver::born(const Block& block)
{
    if (!takes_memory(block.memory))
        return;
    Device& device = devices_[block.device];
    device.address = block.address;
    device.api = block.api;
    device.site = block.site;
    ++device.changes;
}

bool TakenByDriver::ended(const Block& block)
{
    if (!takes_memory(block.memory))
        return false;
    ++devices_[block.device].changes;
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

void TakenByDriver::died(SiteId site)
{
    for (auto kept = alive_.lower_bound({site, 0});
         kept != alive_.end() && kept->first.first == site;)
        kept = forget(kept);
}

bool TakenByDriver::apply(const Record& record)
{
    if (const auto defined = record.as<format::Context>()) {
        if (contexts_.size() < kMostKept)
            contexts_.try_emplace(defined->id, Kept{device_ordinal(defined->device), 0});
    } else if (const auto opened = record.as<format::ContextOpened>()) {
        context_opened(*opened);
    } else if (const auto gone = record.as<format::ContextGone>()) {
        context_gone(gone->context);
    } else {
        return false;
    }
    return true;
}

void TakenByDriver::context_opened(const format::ContextOpened& opened)
{
    const auto known = contexts_.find(opened.context);
    if (known == contexts_.end())
        return;
    Device& device = devices_[known->second.device];
    ++device.changes;
    if (known->second.bytes != 0 || opened.free_before <= opened.free_after)
        return;
    known->second.bytes = opened.free_before - opened.free_after;
    device.contexts += known->second.bytes;
}

void TakenByDriver::context_gone(std::uint64_t id)
{
    const auto known = contexts_.extract(id);
    if (known.empty())
        return;
    Device& device = devices_[known.mapped().device];
    ++device.changes;
    device.contexts -= std::min(device.contexts, known.mapped().bytes);
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
    MeasuredObjects& sum = sites_[device.site];
    const std::uint64_t least = std::min(said.free_before, said.free_after);
    const std::uint64_t fell = said.free_before - least;
    const std::uint64_t rose = said.free_after - least;
    ++sum.objects;
    sum.runs += !in_a_row;
    sum.fell += fell;
    sum.rose += rose;
    sum.largest_rise = std::max(sum.largest_rise, rose);
    sum.ticks += said.took;
    if (fell != 0 && alive_.size() < kMostKept &&
        alive_.try_emplace({device.site, device.address}, Kept{ordinal, fell}).second)
        device.objects += fell;
}

MeasuredObjects TakenByDriver::of(SiteId site) const
{
    const auto known = sites_.find(site);
    return known == sites_.end() ? MeasuredObjects{} : known->second;
}

MovedByOthers TakenByDriver::others(std::int32_t device) const
{
    const auto known = devices_.find(device);
    return known == devices_.end() ? MovedByOthers{} : known->second.others;
}

} // namespace vramscope::report
