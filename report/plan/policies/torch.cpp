// report/plan/policies/torch.cpp — PyTorch's own allocator: the order of its attempts.
#include "report/plan/policies/torch.hpp"

#include <algorithm>

#include "interpose/pool/rounding.hpp"
#include "report/plan/policies/by_block.hpp"
#include "report/plan/policies/knobs.hpp"

namespace vramscope::report::plan {
namespace {

std::uint64_t allowed_of(const CountedDevice& device, const TorchOptions& options)
{
    if (!options.fraction || device.total() == CountedDevice::kNoLimit)
        return CountedDevice::kNoLimit;
    return static_cast<std::uint64_t>(*options.fraction * static_cast<double>(device.total()));
}

// They change nothing of the device's memory.
bool is_beside_the_point(const Knob& knob)
{
    return knob.key.starts_with("pinned_") || knob.key == "release_lock_on_cudamalloc" ||
           knob.key == "graph_capture_record_stream_reuse" ||
           (knob.key == "backend" && knob.value == "native");
}

// The least that the other sizes may be, wherever it stands among them.
void set_large_segment(const std::vector<Knob>& knobs, TorchOptions& options)
{
    for (const Knob& knob : knobs) {
        if (knob.key != "large_segment_size_mb")
            continue;
        options.large_segment_bytes = knob.mebibytes();
        if (options.large_segment_bytes <= pool::kLeastLargeAlone)
            knob.refuse("more than 10");
        options.most_waste_bytes = options.large_segment_bytes;
    }
}

} // namespace

TorchOptions parse_torch_options(std::string_view text)
{
    TorchOptions options;
    const std::vector<Knob> knobs = parse_knobs(text);
    set_large_segment(knobs, options);
    for (const Knob& knob : knobs) {
        if (set_pool_knob(knob, options.pool, options.large_segment_bytes) ||
            is_beside_the_point(knob) || knob.key == "large_segment_size_mb")
            continue;
        if (knob.key == "max_non_split_rounding_mb")
            options.most_waste_bytes = knob.mebibytes();
        else if (knob.key == "expandable_segments")
            options.expandable = knob.flag();
        else if (knob.key == "per_process_memory_fraction")
            options.fraction = knob.part();
        else if (knob.key == "backend")
            knob.refuse("native; cudaMallocAsync's are async-best and async-worst");
        else
            knob.unknown();
    }
    return options;
}

TorchPolicy::TorchPolicy(CountedDevice& device, const TorchOptions& options)
    : device_(device), options_(options), allowed_(allowed_of(device, options))
{
    heap_.number_of(0, true);
}

bool TorchPolicy::start(const std::vector<StartSegment>& segments)
{
    for (const StartSegment& segment : segments) {
        if (!device_.adopt(segment.address, segment.bytes))
            return false;
        BlockIndex rest = heap_.add({.address = segment.address,
                                     .bytes = segment.bytes,
                                     .stream = segment.stream,
                                     .pool = heap_.number_of(segment.pool, segment.small)});
        for (const StartBlock& block : segment.blocks) {
            const std::uint64_t gap = segment.address + block.offset - heap_[rest].address;
            if (gap > 0) {
                const BlockIndex behind = heap_.cut(rest, gap);
                heap_.insert(rest);
                rest = behind;
            }
            const BlockIndex live = rest;
            const bool last = &block == &segment.blocks.back();
            const std::uint64_t end = last ? segment.bytes : (&block + 1)->offset;
            const std::uint64_t bytes = start_bytes(block, segment.small, end - block.offset);
            rest = bytes < heap_[live].bytes ? heap_.cut(live, bytes) : 0;
            heap_[live].state = State::live;
            entry_of(where_, block.block) = live;
            allocated_ += bytes;
        }
        if (rest)
            heap_.insert(rest);
    }
    return true;
}

// Bytes of the place that a block had of this room. A rest that is not worth splitting is its own.
std::uint64_t TorchPolicy::start_bytes(const StartBlock& block, bool small,
                                       std::uint64_t room) const
{
    const std::uint64_t bytes =
        block.place_bytes ? block.place_bytes : pool::round_block(options_.pool, block.bytes);
    if (bytes > room || (!small && !options_.expandable && room - bytes <= pool::kSmallBytes))
        return room;
    return bytes;
}

bool TorchPolicy::allocate(const Request& request)
{
    if (request.bytes > pool::kMostBytes)
        return false;
    const std::uint64_t rounded = pool::round_block(options_.pool, request.bytes);
    const std::uint16_t number = heap_.number_of(request.pool, rounded <= pool::kSmallBytes);
    const Wanted wanted{.pool = heap_.pools()[number],
                        .bytes = rounded,
                        .number = number,
                        .stream = request.stream,
                        .is_private = request.pool != 0};
    BlockIndex block = find_free(wanted);
    if (!block) {
        collect_garbage();
        block = grow(wanted);
        if (!block && release_oversize(wanted))
            block = grow(wanted);
        // While a graph is captured, which is when private pools are used, nothing is flushed.
        if (!block && !wanted.is_private) {
            release_cached();
            ++retries_;
            block = grow(wanted);
        }
    }
    if (!block)
        return false;
    make_live(block, wanted, request.block);
    return true;
}

// The best fit of the stream, in no list any more; 0: none.
BlockIndex TorchPolicy::find_free(const Wanted& wanted)
{
    BlockPool& pool = wanted.pool;
    if (options_.fraction && options_.pool.garbage_collection_threshold > 0)
        ++pool.searches;
    auto found = pool.free.lower_bound({wanted.bytes, 0, 0, wanted.stream});
    if (found == pool.free.end() || found->stream != wanted.stream)
        return 0;
    found = prefer_inner(found, pool);
    const std::uint64_t most_split = options_.pool.max_split_bytes;
    const std::uint64_t bytes = heap_[found->block].bytes;
    if (wanted.bytes < most_split ? bytes >= most_split
                                  : bytes - wanted.bytes >= options_.most_waste_bytes)
        return 0;
    const BlockIndex block = found->block;
    heap_.erase(block);
    return block;
}

// A segment, or a longer expandable range: memory of the driver's; 0: there is none.
BlockIndex TorchPolicy::grow(const Wanted& wanted)
{
    const std::uint64_t bytes = segment_bytes(wanted.bytes);
    if (bytes > allowed_ || device_.reserved() > allowed_ - bytes)
        return 0;
    return options_.expandable ? expand(wanted) : take_segment(wanted);
}

BlockIndex TorchPolicy::take_segment(const Wanted& wanted)
{
    const std::uint64_t bytes = segment_bytes(wanted.bytes);
    std::uint64_t address = 0;
    if (!device_.allocate(bytes, address))
        return 0;
    return heap_.add(
        {.address = address, .bytes = bytes, .stream = wanted.stream, .pool = wanted.number});
}

std::uint64_t TorchPolicy::segment_bytes(std::uint64_t rounded) const
{
    const bool shared = rounded > pool::kSmallBytes && rounded < pool::kLeastLargeAlone;
    return shared ? options_.large_segment_bytes : pool::round_segment(rounded);
}

bool TorchPolicy::worth_splitting(const HeapBlock& block, const Wanted& wanted) const
{
    const std::uint64_t rest = block.bytes - wanted.bytes;
    if (wanted.pool.small || options_.expandable)
        return rest >= pool::kLeastBlock;
    return wanted.bytes < options_.pool.max_split_bytes && rest > pool::kSmallBytes;
}

void TorchPolicy::make_live(BlockIndex block, const Wanted& wanted, BlockId id)
{
    if (worth_splitting(heap_[block], wanted))
        heap_.insert(heap_.cut(block, wanted.bytes));
    heap_[block].state = State::live;
    entry_of(where_, id) = block;
    allocated_ += heap_[block].bytes;
}

void TorchPolicy::make_free(BlockIndex block)
{
    heap_[block].state = State::free;
    heap_.merge(block);
    heap_.insert(block);
}

void TorchPolicy::free(const Request& request)
{
    const BlockIndex block = where_[request.block];
    where_[request.block] = 0;
    allocated_ -= heap_[block].bytes;
    make_free(block);
}

void TorchPolicy::free_later(const Request& request)
{
    const BlockIndex block = where_[request.block];
    allocated_ -= heap_[block].bytes;
    heap_[block].state = State::pending;
    pending_.push_back(request.block);
}

void TorchPolicy::ready(const Request& request)
{
    const auto at = std::find(pending_.begin(), pending_.end(), request.block);
    if (at == pending_.end()) // a flush did not wait for it
        return;
    pending_.erase(at);
    make_free(where_[request.block]);
    where_[request.block] = 0;
}

void TorchPolicy::make_pending_free()
{
    for (const BlockId id : pending_) {
        make_free(where_[id]);
        where_[id] = 0;
    }
    pending_.clear();
}

void TorchPolicy::synchronise(const Request&)
{
    make_pending_free();
}

void TorchPolicy::empty_cache(const Request&)
{
    release_cached();
}

std::uint64_t TorchPolicy::address(BlockId block) const
{
    return heap_[where_[block]].address;
}

std::uint64_t TorchPolicy::largest_free() const
{
    return heap_.largest_free();
}

} // namespace vramscope::report::plan
