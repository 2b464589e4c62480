// report/exporters/torch/device_reading.cpp — segments from records, blocks from the replay.
#include "report/exporters/torch/device_reading.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

namespace vramscope::report {

using format::KeySpace;
using format::Memory;
using format::Tag;

namespace {

constexpr std::uint64_t kSmallSegment = 2 << 20; // PyTorch's bytes, for blocks up to 1 MiB

} // namespace

DeviceReading::DeviceReading(const LogFile& file, std::uint64_t until_ticks, std::int64_t device,
                             Tell tell)
    : tell_(std::move(tell)), device_(device), reading_(file, until_ticks)
{
    LogReader(file).scan(Tag::info, [&](const Record& record) {
        const auto info = record.as<format::Info>();
        if (info && info->key == "imported")
            older_than_ = file.header().start_ticks;
    });
}

void DeviceReading::read(const std::function<void(double)>& progress)
{
    reading_.read(*this, progress, [this](const Record& record) { look_at(record); });
}

// Before the replay takes it.
void DeviceReading::look_at(const Record& record)
{
    record_ = &record;
    if (const auto taken = record.as<format::Segment>(); taken && is_here(taken->device))
        reserve(taken->address, {.bytes = taken->bytes, .ticks = record.ticks});
    else if (const auto gone = record.as<format::SegmentGone>())
        release(gone->address, record.ticks);
    else if (const auto mapped = record.as<format::Map>())
        map(*mapped);
    else if (const auto unmapped = record.as<format::Unmap>())
        unmap(unmapped->address, unmapped->bytes);
    else if (const auto awaited = record.as<format::Awaited>())
        await(*awaited);
    else if (const auto refused = record.as<format::Failed>())
        refused_[record.thread] = refused->stack;
    else if (const auto state = record.as<format::OutOfMemory>(); state && is_here(state->device))
        run_out(record, *state);
    else if (const auto mark = record.as<format::Mark>())
        note_mark(record, mark->name);
    else if (const auto from = record.as<format::CutFrom>()) {
        if (const auto found = state_.segments.find(from->address); found != state_.segments.end())
            found->second.small = from->blocks == format::BlockSize::small;
    } else if (const auto unknown = record.as<format::SizeUnknown>()) {
        if (const auto found = state_.blocks.find(unknown->address); found != state_.blocks.end())
            found->second.size_unknown = true;
    }
}

bool DeviceReading::is_here(std::int64_t device)
{
    constexpr std::int64_t kMostDevices = 1024; // a log may say anything
    device = std::clamp<std::int64_t>(device, 0, kMostDevices);
    last_device_ = std::max(last_device_, device);
    return device == device_;
}

// What it allocates is found by a handle, and has addresses only when it is mapped.
bool DeviceReading::is_physical(const Record& record) const
{
    const std::vector<Api>& apis = reading_.tables().apis();
    return record.api < apis.size() &&
           format::key_space(apis[record.api].memory) == KeySpace::physical;
}

bool DeviceReading::is_torch(std::uint64_t api) const
{
    const std::vector<Api>& apis = reading_.tables().apis();
    return api < apis.size() && apis[api].name == "PyTorch";
}

// Arrays and mipmaps have handles and no addresses: each gets one of its own.
std::uint64_t DeviceReading::place_of(const Block& block)
{
    constexpr std::uint64_t kPage = 2 << 20;
    if (format::is_range(format::kind_of(block.memory).space))
        return block.address;
    const auto [at, is_new] = placed_.try_emplace(block.address, next_place_);
    if (is_new)
        next_place_ += (block.bytes / kPage + 1) * kPage;
    return at->second;
}

void DeviceReading::born(const Block& block)
{
    const bool cut_later = block.memory == Memory::segment;
    if (!cut_later && class_of(block.memory) != format::MemoryClass::device)
        return;
    const bool here = is_here(block.device);
    const ReservedMemory memory{.bytes = block.bytes,
                                .stack = record_->stack,
                                .ticks = block.ticks,
                                .stream = record_->place.stream,
                                .pool = cut_later ? record_->place.pool : 0,
                                .small = block.bytes == kSmallSegment,
                                .of_torch = cut_later && is_torch(block.api)};
    if (is_physical(*record_)) {
        physical_[block.address] = {cut_later, block.device, memory, block.site};
        return;
    }
    if (!here)
        return;
    if (block.memory == Memory::graph)
        return; // its graph's, and allocated anew by each launch
    const bool alone = block.memory != Memory::suballocated && !record_->pooled;
    const std::uint64_t place = place_of(block);
    if (alone) {
        reserve(place, memory);
        state_.segments[place].of_one_block = !cut_later;
    }
    if (cut_later)
        return;
    cut(place, {.bytes = block.bytes,
                .place = block.bytes + (record_->pooled ? record_->slack : 0),
                .stack = record_->stack,
                .ticks = block.ticks,
                .stream = record_->place.stream,
                .site = block.site});
}

void DeviceReading::freed(const Block& block, std::uint64_t ticks)
{
    if (const auto found = physical_.find(block.address);
        found != physical_.end() && found->second.site == block.site) {
        physical_.erase(found);
        return;
    }
    if (block.memory == Memory::segment)
        return release(block.address, ticks);
    const std::uint64_t place = place_of(block);
    placed_.erase(block.address);
    const auto found = state_.blocks.find(place);
    if (found == state_.blocks.end() || found->second.site != block.site)
        return;
    end(place, ticks);
    if (const auto segment = state_.segments.find(place);
        segment != state_.segments.end() && segment->second.of_one_block)
        release(place, ticks);
}

void DeviceReading::context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks)
{
    std::set<SiteId> sites;
    for (const SiteLoss& loss : losses)
        sites.insert(loss.site);
    std::vector<std::uint64_t> ended;
    for (const auto& [address, block] : state_.blocks)
        if (sites.contains(block.site))
            ended.push_back(address);
    for (const std::uint64_t address : ended) {
        end(address, ticks);
        const auto segment = state_.segments.find(address);
        if (segment != state_.segments.end() && segment->second.of_one_block)
            release(address, ticks);
    }
}

void DeviceReading::map(const format::Map& map)
{
    const auto found = physical_.find(map.handle);
    if (found == physical_.end() || !is_here(found->second.device))
        return;
    const Physical& physical = found->second;
    ReservedMemory memory = physical.memory;
    memory.bytes = map.bytes;
    memory.ticks = record_->ticks;
    memory.mapped = true;
    memory.of_one_block = !physical.cut;
    reserve(map.address, memory);
    if (!physical.cut)
        cut(map.address, {.bytes = map.bytes,
                          .place = map.bytes,
                          .stack = memory.stack,
                          .ticks = memory.ticks,
                          .stream = memory.stream,
                          .site = physical.site});
}

void DeviceReading::unmap(std::uint64_t address, std::uint64_t bytes)
{
    std::vector<std::uint64_t> gone;
    for (auto at = state_.segments.lower_bound(address);
         at != state_.segments.end() && at->first - address < bytes; ++at)
        if (at->second.mapped)
            gone.push_back(at->first);
    for (const std::uint64_t begin : gone)
        release(begin, record_->ticks);
}

void DeviceReading::await(const format::Awaited& block)
{
    if (!block.over) {
        awaited_.insert(block.address);
        return;
    }
    const auto found = state_.blocks.find(block.address);
    if (found == state_.blocks.end() || !found->second.pending)
        return;
    tell("free_completed", block.address, found->second.bytes, found->second.stream, 0,
         record_->ticks);
    state_.blocks.erase(found);
}

void DeviceReading::run_out(const Record& record, const format::OutOfMemory& state)
{
    tell({.action = "oom",
          .address = state.free,
          .bytes = state.requested,
          .stream = record.place.stream,
          .stack = refused_[record.thread],
          .ticks = record.ticks,
          .is_shortage = true});
}

// An imported log has a mark where the program took a snapshot, and where it wrote something else
// to its events.
void DeviceReading::note_mark(const Record& record, std::string_view mark)
{
    constexpr std::string_view kSnapshot = "PyTorch snapshot, active bytes: ";
    if (older_than_ == 0 || record.thread != static_cast<std::uint64_t>(device_) + 1)
        return;
    if (!mark.starts_with(kSnapshot)) {
        tell_mapping();
        metadata_ = mark == "no user metadata" ? std::string_view() : mark;
        return;
    }
    std::uint64_t bytes = 0;
    mark.remove_prefix(kSnapshot.size());
    std::from_chars(mark.data(), mark.data() + mark.size(), bytes);
    tell("snapshot", 0, bytes, 0, 0, record.ticks);
}

void DeviceReading::reserve(std::uint64_t address, ReservedMemory memory)
{
    memory.bytes = std::min(memory.bytes, UINT64_MAX - address); // it ends within all addresses
    tell(memory.mapped ? "segment_map" : "segment_alloc", address, memory.bytes, memory.stream,
         memory.stack, memory.ticks);
    state_.segments[address] = memory;
}

// With all that is in it.
void DeviceReading::release(std::uint64_t address, std::uint64_t ticks)
{
    const auto segment = state_.segments.find(address);
    if (segment == state_.segments.end())
        return;
    const ReservedMemory memory = segment->second;
    for (auto block = state_.blocks.lower_bound(address);
         !memory.mapped && block != state_.blocks.end() && block->first - address < memory.bytes;) {
        const std::uint64_t inside = (block++)->first;
        end(inside, ticks);
        state_.blocks.erase(inside);
    }
    if (memory.mapped && memory.of_one_block)
        end(address, ticks);
    state_.segments.erase(segment);
    tell(memory.mapped ? "segment_unmap" : "segment_free", address, memory.bytes, memory.stream,
         stack_of_free(), ticks);
}

void DeviceReading::cut(std::uint64_t address, const CutBlock& block)
{
    tell("alloc", address, block.bytes, block.stream, block.stack, block.ticks);
    state_.blocks[address] = block;
}

void DeviceReading::end(std::uint64_t address, std::uint64_t ticks)
{
    const auto found = state_.blocks.find(address);
    if (found == state_.blocks.end() || found->second.pending)
        return;
    CutBlock& block = found->second;
    const std::uint64_t stack = stack_of_free();
    tell("free_requested", address, block.bytes, block.stream, stack, ticks);
    if (awaited_.erase(address) != 0) {
        block.pending = true;
        return;
    }
    tell("free_completed", address, block.bytes, block.stream, stack, ticks);
    state_.blocks.erase(found);
}

std::uint64_t DeviceReading::stack_of_free() const
{
    return record_->tag == Tag::free ? record_->stack : 0;
}

void DeviceReading::tell(std::string_view action, std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t stream, std::uint64_t stack, std::uint64_t ticks)
{
    if (older_than_ == 0 || ticks > older_than_)
        tell({.action = action,
              .address = address,
              .bytes = bytes,
              .stream = stream,
              .stack = stack,
              .ticks = ticks});
}

// Pieces that are mapped at one moment, each beginning where the last one ends, are one event.
void DeviceReading::tell(const TorchTraceEvent& event)
{
    if (mapping_ && mapping_->action == event.action && mapping_->ticks == event.ticks &&
        mapping_->stack == event.stack && mapping_->stream == event.stream &&
        mapping_->address + mapping_->bytes == event.address) {
        mapping_->bytes += event.bytes;
        return;
    }
    tell_mapping();
    if (event.action == "segment_map" || event.action == "segment_unmap")
        mapping_ = event;
    else
        tell_now(event);
}

void DeviceReading::tell_mapping()
{
    if (mapping_)
        tell_now(*mapping_);
    mapping_.reset();
}

void DeviceReading::tell_now(TorchTraceEvent event)
{
    event.metadata = metadata_;
    tell_(event);
}

// Mapped memory that lies side by side and is alike is one segment.
DeviceState DeviceReading::take_state()
{
    tell_mapping();
    auto& segments = state_.segments;
    for (auto at = segments.begin(); at != segments.end();) {
        const auto next = std::next(at);
        if (next == segments.end())
            break;
        ReservedMemory& one = at->second;
        const ReservedMemory& other = next->second;
        if (one.mapped && other.mapped && one.of_one_block == other.of_one_block &&
            at->first + one.bytes == next->first && one.stream == other.stream &&
            one.pool == other.pool && one.small == other.small) {
            one.bytes += other.bytes;
            segments.erase(next);
        } else {
            at = next;
        }
    }
    return std::move(state_);
}

} // namespace vramscope::report
