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
    for (Device* device = std::exchange(changed_, nullptr); device; device = device->next_changed)
        update(*device, record.ticks);
    if (!is_hot(record.tag))
        apply_rare(record);
}

void DeviceMemory::apply_rare(const Record& record)
{
    if (const auto named = record.as<format::Mark>())
        mark(record.ticks, named->name);
    else if (const auto said = record.as<format::DeviceMemory>())
        sample(record.ticks, *said);
    else if (const auto shortage = record.as<format::OutOfMemory>(); shortage && !limited())
        sample(record.ticks, {shortage->device, shortage->free, shortage->total});
    else if (const auto object = record.as<format::ObjectMemory>())
        measured(record.ticks, *object);
    else if (const auto pool = record.as<format::MempoolMemory>())
        note_mempool(record.ticks, *pool);
    else if (const auto waits = record.as<format::BlocksPending>()) {
        if (!tables_.is_defined(waits->api.value))
            return; // the log does not say whose they are
        Allocator& allocator =
            allocator_of(device_of(waits->device), static_cast<std::uint16_t>(waits->api.value));
        allocator.pending = waits->bytes;
        allocator.note_active();
    } else if (const auto block = record.as<format::Awaited>()) {
        note_ready(block->address);
        if (!block->over)
            awaited_[block->address] = {};
    } else if (const auto changed = taken_.apply(record)) {
        take_over(*changed);
    }
}

void DeviceMemory::measured(std::uint64_t ticks, const format::ObjectMemory& said)
{
    const Device& device = device_of(said.device);
    taken_.measured(said, ticks, device.reserved_ticks);
    sample(ticks, {said.device, said.free_after, said.total});
    take_over(said.device);
}

// A device of which nothing else is known is none to be told of.
void DeviceMemory::take_over(std::int64_t ordinal)
{
    Device* const device = of_ordinal_[static_cast<std::size_t>(device_ordinal(ordinal) + 1)];
    if (!device)
        return;
    const TakenByDriver::Device taken = taken_.on(device->ordinal);
    device->contexts = taken.contexts;
    device->objects = taken.objects;
}

void DeviceMemory::note_given_back(const Block& block)
{
    const auto found = awaited_.find(block.address);
    if (found == awaited_.end() || block.memory != format::Memory::suballocated)
        return;
    Allocator& allocator = allocator_of(device_of(block.device), block.api);
    found->second = {block.device, block.api, block.bytes};
    allocator.pending = allocator.pending.value_or(0) + block.bytes;
    allocator.note_active();
}

void DeviceMemory::note_ready(std::uint64_t address)
{
    const auto found = awaited_.extract(address);
    if (found.empty() || found.mapped().bytes == 0)
        return;
    const AwaitedBlock& block = found.mapped();
    std::optional<std::uint64_t>& pending =
        allocator_of(device_of(block.device), block.api).pending;
    pending = pending.value_or(0) - std::min(pending.value_or(0), block.bytes);
}

DeviceMemory::Device& DeviceMemory::add_device(std::size_t at)
{
    of_ordinal_[at] = &devices_.emplace_back();
    of_ordinal_[at]->ordinal = static_cast<std::int32_t>(at) - 1;
    of_ordinal_[at]->index = devices_.size() - 1;
    take_over(of_ordinal_[at]->ordinal);
    return *of_ordinal_[at];
}

Waterfall DeviceMemory::now(const Device& device) noexcept
{
    const PoolBytes& pool = device.pool;
    Waterfall parts;
    const std::uint64_t direct = direct_of(device);
    parts.kept = kept_of(device);
    parts.requested = pool.requested + direct - parts.kept;
    parts.direct = std::min(direct, parts.requested);
    parts.internal = pool.allocated - pool.requested;
    parts.allocated = parts.requested + parts.internal;
    parts.pending = pool.active - pool.allocated;
    parts.stuck = pool.inactive_split;
    parts.reserved = pool.reserved + direct;
    parts.releasable = pool.reserved - pool.active - parts.stuck;
    parts.used_known = device.sampled;
    if (device.sampled) {
        parts.unattributed = device.unattributed;
        parts.contexts = std::min(device.contexts, parts.unattributed);
        parts.objects = std::min(device.objects, parts.unattributed - parts.contexts);
        parts.used = parts.unattributed + parts.reserved;
    }
    return parts;
}

void DeviceMemory::update(Device& device, std::uint64_t ticks)
{
    device.changed = false;
    const std::uint64_t direct = direct_of(device);
    const std::uint64_t kept = kept_of(device);
    const std::uint64_t allocated = device.pool.allocated + direct - kept;
    const std::uint64_t reserved = device.pool.reserved + direct;
    device.peak_direct = std::max(device.peak_direct, direct);
    device.recent_peak = std::max(device.recent_peak, allocated);
    if (reserved != device.last_reserved) {
        device.last_reserved = reserved;
        device.reserved_ticks = ticks;
    }
    if (allocated > device.peak.parts.allocated) {
        device.peak = {ticks, now(device)};
        ++device.peaks;
    }
    const Waterfall& most = device.reserved_peak.parts;
    const bool higher = reserved > most.reserved;
    const bool same = reserved == most.reserved && allocated >= most.allocated;
    const bool placed = device.at_reserved_peak && same && allocated > most.allocated;
    device.at_reserved_peak = higher || (device.at_reserved_peak && same && !placed);
    if (higher || placed)
        device.reserved_peak = {ticks, now(device)};
    device.timeline.add(ticks, allocated, device.pool.active + direct - kept, reserved);
}

void DeviceMemory::restart_recent_peaks() noexcept
{
    for (Device& device : devices_)
        device.recent_peak = now(device).allocated;
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

void DeviceMemory::note_mempool(std::uint64_t ticks, const format::MempoolMemory& said)
{
    std::vector<Mempool>& pools = device_of(said.device).mempools;
    auto pool = std::find_if(pools.begin(), pools.end(),
                             [&](const Mempool& one) { return one.handle == said.pool.value; });
    if (pool == pools.end())
        pool = pools.insert(pools.end(), Mempool{said.pool.value, 0, {}, {}});
    pool->maximum = said.maximum;
    pool->last = {ticks, said.reserved, said.used};
    if (pool->peak.ticks == 0 || pool->last.kept() > pool->peak.kept())
        pool->peak = pool->last;
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

DeviceMemory::Allocator& DeviceMemory::allocator_of(Device& device, std::uint16_t api)
{
    for (Allocator& known : device.allocators) {
        if (known.api == api)
            return known;
    }
    device.allocators.emplace_back().api = api;
    return device.allocators.back();
}

bool DeviceMemory::leave(const Site& site, std::uint64_t bytes, std::uint64_t blocks)
{
    const format::MemoryClass kind = class_of(site.memory);
    if (kind != format::MemoryClass::device && kind != format::MemoryClass::reserved)
        return false;
    Device& device = device_of(site.device);
    touch(device);
    if (kind == format::MemoryClass::reserved) {
        device.segment_bytes -= bytes;
        allocator_of(device, site.api).reserved.fall(bytes);
        return true;
    }
    device.requested.fall(bytes);
    device.blocks.fall(blocks);
    if (site.memory != format::Memory::suballocated)
        return true;
    device.suballocated_bytes -= bytes;
    Allocator& allocator = allocator_of(device, site.api);
    allocator.allocated.fall(bytes);
    allocator.blocks.fall(blocks);
    return true;
}

void DeviceMemory::born(const Block& block)
{
    const format::MemoryClass kind = class_of(block.memory);
    if (kind != format::MemoryClass::device && kind != format::MemoryClass::reserved)
        return is_object(block.memory) ? taken_.born(block) : void();
    Device& device = device_of(block.device);
    touch(device);
    if (kind == format::MemoryClass::reserved) {
        device.segment_bytes += block.bytes;
        return allocator_of(device, block.api).reserved.rise(block.bytes);
    }
    device.requested.rise(block.bytes);
    device.blocks.rise(1);
    if (block.memory != format::Memory::suballocated)
        return;
    device.suballocated_bytes += block.bytes;
    Allocator& allocator = allocator_of(device, block.api);
    allocator.allocated.rise(block.bytes);
    allocator.note_active();
    allocator.blocks.rise(1);
}

void DeviceMemory::freed(const Block& block, std::uint64_t)
{
    if (!leave(sites_[block.site], block.bytes, 1) && taken_.ended(block))
        take_over(block.device);
    if (!awaited_.empty())
        note_given_back(block);
}

void DeviceMemory::gone(const Block& block, std::uint64_t ticks)
{
    freed(block, ticks);
}

void DeviceMemory::context_gone(std::span<const SiteLoss> losses, std::uint64_t)
{
    for (const SiteLoss& loss : losses) {
        const Site& site = sites_[loss.site];
        if (!leave(site, loss.bytes, loss.blocks) && taken_.died(loss.site))
            take_over(site.device);
    }
}

// Whether each device is there once, and all of those that sites are of.
bool DeviceMemory::rebuild()
{
    for (std::size_t at = 0; at < devices_.size(); ++at) {
        Device& device = devices_[at];
        Device*& known = of_ordinal_[static_cast<std::size_t>(device_ordinal(device.ordinal) + 1)];
        if (known || device.index != at || device.ordinal != device_ordinal(device.ordinal))
            return false;
        known = &device;
    }
    const std::vector<Site>& sites = sites_.all();
    return taken_.sites() <= sites.size() &&
           std::all_of(sites.begin(), sites.end(), [this](const Site& site) {
               return class_of(site.memory) != format::MemoryClass::device || device(site.device);
           });
}

} // namespace vramscope::report
