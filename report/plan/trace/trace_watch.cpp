// report/plan/trace/trace_watch.cpp — what each record means for a trace.
#include "report/plan/trace/trace_watch.hpp"

#include <algorithm>
#include <limits>

#include "report/log/device_ordinal.hpp"

namespace vramscope::report::plan {

using format::Memory;
using format::MemoryClass;

namespace {

// A log may say anything. No device has so much: what was allocated can be added up, and what was
// refused does not become little when it is rounded up.
constexpr std::uint64_t kMostAlive = std::uint64_t{1} << 44;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

// cuda.h's names for the default stream.
constexpr std::uint64_t kLegacyStream = 1;

template <typename Number>
Number dense(std::unordered_map<std::uint64_t, Number>& numbers, std::uint64_t handle)
{
    constexpr std::size_t kMost = std::numeric_limits<Number>::max();
    const auto next = static_cast<Number>(std::min(numbers.size() + 1, kMost));
    return handle == 0 || (next == kMost && !numbers.contains(handle))
               ? static_cast<Number>(handle == 0 ? 0 : kMost)
               : numbers.try_emplace(handle, next).first->second;
}

} // namespace

// A handle may be there twice, released and mapped; its blocks differ by their births.
std::uint64_t TraceWatch::key_of(const Block& block) const noexcept
{
    const auto space = static_cast<std::uint64_t>(format::key_space(block.memory));
    return (block.address ^ space << 59) + block.ticks * seed_;
}

bool TraceWatch::is_request(Memory memory) const noexcept
{
    if (cut_)
        return memory == Memory::suballocated;
    return memory == Memory::device || memory == Memory::pitched || memory == Memory::async;
}

TraceWatch::DeviceTrace& TraceWatch::trace_of(std::int64_t device)
{
    const std::int32_t ordinal = device_ordinal(device);
    for (DeviceTrace& known : devices_) {
        if (known.trace.device == ordinal)
            return known;
    }
    DeviceTrace& added = devices_.emplace_back();
    added.trace.device = ordinal;
    return added;
}

std::uint16_t TraceWatch::stream_of(DeviceTrace& to, std::uint64_t handle)
{
    const std::uint16_t stream = dense(to.streams, handle == kLegacyStream ? 0 : handle);
    to.facts.streams = to.streams.size();
    return stream;
}

std::uint8_t TraceWatch::pool_of(DeviceTrace& to, std::uint64_t handle)
{
    return dense(to.pools, handle);
}

BlockId TraceWatch::add_block(DeviceTrace& to, SiteId site)
{
    to.trace.sites.push_back(site);
    return static_cast<BlockId>(to.trace.sites.size() - 1);
}

// Segments that went back though no request had failed were given back on the program's word; after
// one a replay gives back and tries again by itself, where it has to.
void TraceWatch::push(DeviceTrace& to, const Request& request)
{
    if (to.gave_back) {
        to.gave_back = false;
        to.trace.requests.push_back({.ticks = request.ticks, .action = Action::empty_cache});
    }
    to.trace.requests.push_back(request);
    if (request.action == Action::free || request.action == Action::free_later)
        to.live -= request.bytes;
    if (request.action == Action::give_beside)
        to.beside -= request.bytes;
    if (request.action == Action::take_beside)
        to.facts.peak_beside = std::max(to.facts.peak_beside, to.beside += request.bytes);
    if (request.action == Action::allocate)
        note_live(to, request.bytes);
}

void TraceWatch::note_live(DeviceTrace& to, std::uint64_t bytes)
{
    to.live += bytes;
    if (to.live <= to.facts.peak_live)
        return;
    to.facts.peak_live = to.live;
    to.facts.peak_request = to.trace.requests.empty() ? 0 : to.trace.requests.size() - 1;
}

// The recording of another tool began when it was there already.
bool TraceWatch::is_from_before(const Block& block) const
{
    return block.ticks == start_ticks_ && !tables_.info_value("imported").empty();
}

void TraceWatch::born(const Block& block)
{
    const MemoryClass kind = class_of(block.memory);
    if (kind == MemoryClass::reserved)
        trace_of(block.device).short_of = false;
    if (kind != MemoryClass::device)
        return;
    DeviceTrace& to = trace_of(block.device);
    to.facts.managed += block.memory == Memory::managed;
    if (block.memory == Memory::managed)
        return;
    const bool asked = is_request(block.memory);
    to.short_of = to.short_of && !asked;
    const std::uint64_t bytes = std::min(block.bytes, kMostAlive);
    Request request{.bytes = bytes,
                    .ticks = block.ticks,
                    .block = add_block(to, block.site),
                    .action = asked ? Action::allocate : Action::take_beside};
    if (block.memory == Memory::async || block.memory == Memory::suballocated) {
        request.stream = stream_of(to, record_->place.stream);
        request.pool = pool_of(to, record_->place.pool);
        to.facts.stream_ordered += asked && block.memory == Memory::async;
    }
    if (asked && is_from_before(block)) {
        start_.add_block(to.trace.device, request, block.address);
        note_live(to, bytes);
    } else {
        push(to, request);
        if (asked)
            to.places.born(block.address);
    }
    if (block.site >= live_.size())
        live_.resize(block.site + std::size_t{1});
    std::vector<Live>& live = live_[block.site];
    const auto [entry, added] = places_.find_or_insert(key_of(block));
    if (!added)
        return; // of a hostile log: two handles of one number and one time
    entry->value = {request.block, static_cast<std::uint32_t>(live.size())};
    live.push_back({entry->key, bytes});
}

void TraceWatch::settle_start(const std::vector<AllocatorSegment>& segments)
{
    for (DeviceTrace& device : devices_) {
        start_.settle(device.trace, segments);
        device.places.begin(device.trace.at_start);
    }
}

void TraceWatch::gone(const Block& block, std::uint64_t ticks)
{
    if (class_of(block.memory) == MemoryClass::device)
        ++trace_of(block.device).facts.unseen_frees;
    leave(block, ticks);
}

void TraceWatch::leave(const Block& block, std::uint64_t ticks)
{
    const MemoryClass kind = class_of(block.memory);
    if (kind != MemoryClass::device && kind != MemoryClass::reserved)
        return;
    DeviceTrace& from = trace_of(block.device);
    if (kind == MemoryClass::reserved) {
        from.gave_back = !from.short_of;
        return;
    }
    if (is_request(block.memory))
        from.places.gone(block.address);
    const auto waiting = waiting_.find(block.address);
    forget(key_of(block), block.site, ticks,
           waiting == waiting_.end() ? nullptr : &waiting->second);
}

// The last block of the site takes its place.
void TraceWatch::forget(std::uint64_t key, SiteId site, std::uint64_t ticks, Waiting* waiting)
{
    auto* const entry = places_.find(key);
    if (!entry || site >= live_.size())
        return;
    const Place found = entry->value;
    std::vector<Live>& live = live_[site];
    if (found.place >= live.size() || live[found.place].key != key)
        return;
    give_back(sites_[site], found.block, live[found.place].bytes, ticks, waiting);
    places_.erase(entry);
    live[found.place] = live.back();
    live.pop_back();
    if (found.place < live.size())
        places_.find(live[found.place].key)->value.place = found.place;
}

void TraceWatch::give_back(const Site& site, BlockId block, std::uint64_t bytes,
                           std::uint64_t ticks, Waiting* waiting)
{
    DeviceTrace& to = trace_of(site.device);
    Action action = Action::give_beside;
    if (is_request(site.memory))
        action = waiting ? Action::free_later : Action::free;
    if (action == Action::free_later)
        *waiting = {&to, block};
    push(to, {.bytes = bytes, .ticks = ticks, .block = block, .action = action});
}

// It is told before the block's free, and again when the work is done.
void TraceWatch::note_waiting(const format::Awaited& block, std::uint64_t ticks)
{
    if (!block.over) {
        waiting_[block.address] = {};
        return;
    }
    const auto waiting = waiting_.extract(block.address);
    if (!waiting.empty() && waiting.mapped().of)
        push(*waiting.mapped().of,
             {.ticks = ticks, .block = waiting.mapped().block, .action = Action::ready});
}

void TraceWatch::context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks)
{
    for (const SiteLoss& loss : losses) {
        while (loss.site < live_.size() && !live_[loss.site].empty())
            forget(live_[loss.site].back().key, loss.site, ticks);
    }
}

void TraceWatch::note_rare(const Record& record)
{
    if (const auto failed = record.as<format::Failed>())
        failed_stack_[record.thread] = failed->stack;
    else if (const auto failure = record.as<format::OutOfMemory>())
        note_failure(record, *failure);
    else if (const auto said = record.as<format::DeviceMemory>())
        note_used(*said);
    else if (const auto waits = record.as<format::Awaited>())
        note_waiting(*waits, record.ticks);
    else if (const auto cut = record.as<format::CutFrom>(); cut && record.ticks == start_ticks_)
        start_.note(*cut);
    else if (const auto ready = record.as<format::Reusable>(); ready && !ready->own)
        synchronise(record.ticks - std::min<std::uint64_t>(record.ticks, ready->age));
    else if (const auto segment = record.as<format::SegmentGone>();
             segment && segment->end == format::SegmentEnd::asked)
        empty_caches(record.ticks);
}

// When there are too many, every second one goes.
void TraceWatch::note_used(const format::DeviceMemory& said)
{
    DeviceTrace& device = trace_of(said.device);
    if (said.total == 0 || device.samples++ % device.stride != 0)
        return;
    std::vector<UsedSample>& samples = device.facts.used;
    if (samples.size() == kMostSamples) {
        device.stride *= 2;
        for (std::size_t at = 0; at < kMostSamples / 2; ++at)
            samples[at] = samples[2 * at];
        samples.resize(kMostSamples / 2);
    }
    const DeviceMemory::Device* const known = memory_.device(device.trace.device);
    samples.push_back({said.total - std::min(said.free, said.total),
                       known ? memory_.now(*known).reserved : 0, device.trace.requests.size()});
}

// What it would have done with the memory is not known: it is given back at once.
void TraceWatch::note_failure(const Record& record, const format::OutOfMemory& failure)
{
    const Api* const api = tables_.find_api(record.api);
    if (!api || failure.requested == 0)
        return;
    DeviceTrace& to = trace_of(failure.device);
    to.gave_back = false;
    to.short_of = true;
    if (!is_request(api->memory))
        return;
    Request request{.bytes = std::min(failure.requested, kMostBytes),
                    .ticks = record.ticks,
                    .block = add_block(to, kNoSite)};
    to.facts.failed.push_back(
        {request.block, record.api, failed_stack_[record.thread], record.ticks});
    push(to, request);
    request.action = Action::free;
    push(to, request);
}

// All that was freed by then is ready. Nearly always nothing was asked for since, and a crafted log
// is not to make each such record a walk.
void TraceWatch::synchronise(std::uint64_t ticks)
{
    constexpr int kMostSteps = 4096;
    for (DeviceTrace& device : devices_) {
        std::vector<Request>& requests = device.trace.requests;
        auto at = requests.end();
        for (int steps = 0; steps < kMostSteps && at != requests.begin(); ++steps) {
            if (std::prev(at)->ticks <= ticks)
                break;
            --at;
        }
        const bool behind_one =
            at != requests.begin() && std::prev(at)->action == Action::synchronise;
        if (behind_one || (at != requests.end() && at->action == Action::synchronise))
            continue;
        const auto index = static_cast<std::size_t>(at - requests.begin());
        requests.insert(at, {.ticks = ticks, .action = Action::synchronise});
        device.facts.peak_request += device.facts.peak_request >= index;
        ++device.facts.synchronisations;
    }
}

void TraceWatch::empty_caches(std::uint64_t ticks)
{
    for (DeviceTrace& device : devices_) {
        std::vector<Request>& requests = device.trace.requests;
        if (requests.empty() || requests.back().action != Action::empty_cache)
            requests.push_back({.ticks = ticks, .action = Action::empty_cache});
    }
}

} // namespace vramscope::report::plan
