// report/replay/memory.cpp — sums per device, and what is noted when one of them changes.
#include "report/replay/memory.hpp"

#include <algorithm>

#include "report/log/device_ordinal.hpp"

namespace vramscope::report {

using format::Tag;

void DeviceMemory::apply(const Record& record, std::span<const PoolChange> changes)
{
    if (record.tag == Tag::alloc && record.pooled) {
        const std::uint64_t slack = std::min(record.slack, UINT64_MAX - record.bytes);
        device_of(record.place.device).requests.add(record.bytes + slack);
    }
    for (const PoolChange& change : changes) {
        Device& device = device_of(change.device);
        device.pool = change.bytes;
        touch(device);
    }
    for (Device* const device : changed_)
        update(*device, record.ticks);
    changed_.clear();
    if (is_hot(record.tag))
        return;
    if (const auto named = record.as<format::Mark>())
        mark(record.ticks, named->name);
    else if (const auto said = record.as<format::DeviceMemory>())
        sample(record.ticks, *said);
    else if (const auto shortage = record.as<format::OutOfMemory>(); shortage && !limited())
        sample(record.ticks, {shortage->device, shortage->free, shortage->total});
}

const DeviceMemory::Device* DeviceMemory::device(std::int32_t ordinal) const noexcept
{
    const auto at = static_cast<std::size_t>(device_ordinal(ordinal) + 1);
    return at < of_ordinal_.size() ? of_ordinal_[at] : nullptr;
}

DeviceMemory::Device& DeviceMemory::add_device(std::size_t at)
{
    if (at >= of_ordinal_.size())
        of_ordinal_.resize(at + 1);
    of_ordinal_[at] = &devices_.emplace_back();
    of_ordinal_[at]->ordinal = static_cast<std::int32_t>(at) - 1;
    of_ordinal_[at]->index = devices_.size() - 1;
    return *of_ordinal_[at];
}

Waterfall DeviceMemory::now(const Device& device) noexcept
{
    const PoolBytes& pool = device.pool;
    Waterfall parts;
    parts.direct = direct_of(device);
    parts.requested = pool.requested + parts.direct;
    parts.internal = pool.allocated - pool.requested;
    parts.allocated = pool.allocated + parts.direct;
    parts.pending = pool.active - pool.allocated;
    parts.stuck = pool.inactive_split;
    parts.reserved = pool.reserved + parts.direct;
    parts.releasable = pool.reserved - pool.active - parts.stuck;
    parts.used_known = device.sampled;
    if (device.sampled) {
        parts.unattributed = device.unattributed;
        parts.used = parts.unattributed + parts.reserved;
    }
    return parts;
}

void DeviceMemory::update(Device& device, std::uint64_t ticks)
{
    device.changed = false;
    const std::uint64_t direct = direct_of(device);
    const std::uint64_t allocated = device.pool.allocated + direct;
    const std::uint64_t reserved = device.pool.reserved + direct;
    device.peak_direct = std::max(device.peak_direct, direct);
    if (allocated > device.peak.parts.allocated) {
        device.peak = {ticks, now(device)};
        ++device.peaks;
    }
    if (reserved > device.reserved_peak.parts.reserved)
        device.reserved_peak = {ticks, now(device)};
    device.timeline.add(ticks, allocated, device.pool.active + direct, reserved);
}

// What the driver counts beyond what is ours stays as it is until it is asked again.
void DeviceMemory::sample(std::uint64_t ticks, const format::DeviceMemory& said)
{
    if (said.total == 0)
        return;
    Device& device = device_of(said.device);
    const std::uint64_t used = said.total - std::min(said.free, said.total);
    device.total = said.total;
    device.sampled = true;
    device.unattributed = used - std::min(used, now(device).reserved);
    device.timeline.add_used(ticks, used);
}

// Where a smaller device is played, the numbers of a shortage are not the driver's.
bool DeviceMemory::limited() const
{
    return !tables_.info_value("pool.limit").empty();
}

void DeviceMemory::mark(std::uint64_t ticks, std::string_view name)
{
    if (marks_ == kMostMarks)
        return;
    ++marks_;
    for (Device& device : devices_)
        device.marks.push_back({{ticks, now(device)}, std::string(name)});
}

void DeviceMemory::leave(std::int16_t ordinal, std::uint64_t bytes, std::uint64_t blocks)
{
    Device& device = device_of(ordinal);
    device.requested.fall(bytes);
    device.blocks.fall(blocks);
    touch(device);
}

void DeviceMemory::born(const Block& block)
{
    if (class_of(block.memory) != format::MemoryClass::device)
        return;
    Device& device = device_of(block.device);
    device.requested.rise(block.bytes);
    device.blocks.rise(1);
    touch(device);
}

void DeviceMemory::freed(const Block& block, std::uint64_t)
{
    if (class_of(block.memory) == format::MemoryClass::device)
        leave(block.device, block.bytes, 1);
}

void DeviceMemory::gone(const Block& block, std::uint64_t ticks)
{
    freed(block, ticks);
}

void DeviceMemory::context_gone(std::span<const SiteLoss> losses, std::uint64_t)
{
    for (const SiteLoss& loss : losses) {
        const Site& site = sites_[loss.site];
        if (class_of(site.memory) == format::MemoryClass::device)
            leave(site.device, loss.bytes, loss.blocks);
    }
}

} // namespace vramscope::report
