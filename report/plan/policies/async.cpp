// report/plan/policies/async.cpp — cudaMallocAsync by NVIDIA's published rules: an estimate.
#include "report/plan/policies/async.hpp"

#include "interpose/pool/rounding.hpp"
#include "report/plan/policies/by_block.hpp"
#include "report/plan/policies/knobs.hpp"

namespace vramscope::report::plan {

using pool::kLeastBlock;
using pool::kSegmentUnit;

namespace {

constexpr std::uint64_t kAsyncSegment = 32u
                                        << 20; // what drivers were seen to take at once: a guess

} // namespace

std::uint64_t parse_release_threshold(std::string_view text)
{
    std::uint64_t bytes = 0; // the driver's default
    for (const Knob& knob : parse_knobs(text)) {
        if (knob.key != "release_threshold_mb")
            knob.unknown();
        bytes = knob.mebibytes();
    }
    return bytes;
}

bool AsyncBestPolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

std::uint64_t AsyncBestPolicy::used() const
{
    return pool::round_up(small_, kSegmentUnit) + large_;
}

bool AsyncBestPolicy::allocate(const Request& request)
{
    if (request.bytes > pool::kMostBytes)
        return false;
    std::uint64_t& sum = request.bytes < kSegmentUnit ? small_ : large_;
    const std::uint64_t bytes =
        pool::round_up(std::max<std::uint64_t>(request.bytes, 1),
                       request.bytes < kSegmentUnit ? kLeastBlock : kSegmentUnit);
    sum += bytes;
    const std::uint64_t reserved = device_.reserved();
    if (used() > reserved &&
        !device_.map(0, used() - reserved, (used() - reserved) / kSegmentUnit)) {
        sum -= bytes;
        return false;
    }
    entry_of(bytes_, request.block) = bytes;
    return true;
}

void AsyncBestPolicy::free(const Request& request)
{
    const std::uint64_t bytes = bytes_[request.block];
    (bytes < kSegmentUnit ? small_ : large_) -= bytes;
}

void AsyncBestPolicy::synchronise(const Request&)
{
    give_back(std::max(threshold_, used()));
}

void AsyncBestPolicy::give_back(std::uint64_t kept)
{
    if (device_.reserved() <= kept)
        return;
    const std::uint64_t bytes = (device_.reserved() - kept) / kSegmentUnit * kSegmentUnit;
    if (bytes > 0)
        device_.release(0, bytes, bytes / kSegmentUnit);
}

AsyncWorstPolicy::AsyncWorstPolicy(CountedDevice& device, std::uint64_t threshold)
    : device_(device), threshold_(threshold)
{
    heap_.number_of(0, false);
}

bool AsyncWorstPolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

bool AsyncWorstPolicy::allocate(const Request& request)
{
    if (request.bytes > pool::kMostBytes)
        return false;
    const std::uint64_t bytes =
        pool::round_up(std::max<std::uint64_t>(request.bytes, 1), kLeastBlock);
    const std::uint64_t least = pool::round_up(bytes, kSegmentUnit);
    BlockIndex block = best_fit(bytes, request.stream);
    if (!block)
        block = best_fit(bytes, kAnyStream);
    if (!block)
        block = grow(bytes, std::max(least, kAsyncSegment), request.stream);
    if (!block) { // the device is waited for, and what is free goes back
        share_all();
        ++retries_;
        block = best_fit(bytes, kAnyStream);
        if (!block) {
            give_back(0);
            block = grow(bytes, least, request.stream);
        }
    }
    if (!block)
        return false;
    if (heap_[block].bytes > bytes)
        heap_.insert(heap_.cut(block, bytes));
    heap_[block].state = HeapBlock::State::live;
    heap_[block].stream = request.stream;
    entry_of(where_, request.block) = block;
    allocated_ += bytes;
    return true;
}

BlockIndex AsyncWorstPolicy::best_fit(std::uint64_t bytes, std::uint16_t stream)
{
    const BlockList& list = heap_.pools().front().free;
    const auto found = list.lower_bound({bytes, 0, 0, stream});
    if (found == list.end() || found->stream != stream)
        return 0;
    const BlockIndex block = found->block;
    heap_.erase(block);
    return block;
}

BlockIndex AsyncWorstPolicy::grow(std::uint64_t bytes, std::uint64_t segment, std::uint16_t stream)
{
    std::uint64_t address = 0;
    if (segment < bytes || !device_.allocate(segment, address))
        return 0;
    return heap_.add({.address = address, .bytes = segment, .stream = stream});
}

void AsyncWorstPolicy::free(const Request& request)
{
    const BlockIndex block = where_[request.block];
    allocated_ -= heap_[block].bytes;
    make_free(block, heap_[block].stream); // a log has no stream of a free
}

void AsyncWorstPolicy::make_free(BlockIndex block, std::uint16_t stream)
{
    heap_[block].stream = stream;
    heap_[block].state = HeapBlock::State::free;
    heap_.merge(block);
    heap_.insert(block);
}

void AsyncWorstPolicy::synchronise(const Request&)
{
    share_all();
    give_back(threshold_);
}

void AsyncWorstPolicy::share_all()
{
    const BlockList& list = heap_.pools().front().free;
    while (!list.empty() && list.begin()->stream != kAnyStream) {
        const BlockIndex block = list.begin()->block;
        heap_.erase(block);
        make_free(block, kAnyStream);
    }
}

// Segments that are free as a whole, the largest first, until no more than `kept` is reserved.
void AsyncWorstPolicy::give_back(std::uint64_t kept)
{
    const BlockList& list = heap_.pools().front().free;
    for (auto at = list.end(); at != list.begin() && device_.reserved() > kept;) {
        const BlockIndex block = (--at)->block;
        if (heap_[block].is_split())
            continue;
        ++at;
        heap_.erase(block);
        device_.release(heap_[block].address, heap_[block].bytes);
        heap_.remove(block);
    }
}

std::uint64_t AsyncWorstPolicy::largest_free() const
{
    return heap_.largest_free();
}

} // namespace vramscope::report::plan
