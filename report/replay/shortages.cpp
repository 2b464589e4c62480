// report/replay/shortages.cpp — a failed call, then the state of its device.
#include "report/replay/shortages.hpp"

#include <algorithm>
#include <utility>

#include "report/log/device_ordinal.hpp"
#include "report/model/memory/pool.hpp"
#include "report/replay/allocators.hpp"
#include "report/replay/heap/stack_sums.hpp"
#include "report/replay/pool/piece_sizes.hpp"

namespace vramscope::report {
namespace {

PieceSizes note_pieces(LoggedShortage& shortage, PoolSnapshot&& snapshot)
{
    const PieceSizes free(snapshot);
    shortage.free_bytes = free.bytes();
    shortage.free_pieces = free.pieces();
    shortage.unusable = free.unusable_for(shortage.requested);
    shortage.fragmentation = free.fragmentation_for(shortage.requested);
    shortage.map = segment_cells(snapshot.segments, Shortages::kMapCells);
    shortage.pieces = std::move(snapshot);
    shortage.pieces.cut();
    return free;
}

} // namespace

void Shortages::apply(const Record& record, HeapReplay& heap, const SegmentReplay& segments,
                      const DeviceMemory& memory)
{
    if (const auto shortage = record.as<format::OutOfMemory>())
        add(record, *shortage, heap, segments, memory);
    else if (const auto pool = record.as<format::MempoolMemory>())
        add_mempool(record, *pool, heap);
    else if (record.tag == format::Tag::device_memory)
        told_last_ = {};
    else if (const auto failed = record.as<format::Failed>())
        last_stack_[record.thread] = failed->stack;
    else if (const auto retried = record.as<format::Retried>())
        ++retries_[retried->device];
}

void Shortages::add(const Record& record, const format::OutOfMemory& logged, HeapReplay& heap,
                    const SegmentReplay& segments, const DeviceMemory& memory)
{
    LoggedShortage shortage;
    shortage.api = record.api;
    shortage.ticks = record.ticks;
    shortage.device = device_ordinal(logged.device);
    shortage.requested = logged.requested;
    shortage.free = logged.free;
    shortage.total = logged.total;
    shortage.allocated = logged.allocated;
    shortage.reserved = logged.reserved;
    shortage.largest_gap = logged.largest_gap;
    shortage.thread = record.thread;
    shortage.row = ++rows_;
    if (const auto stack = last_stack_.find(record.thread); stack != last_stack_.end())
        shortage.stack = stack->second;
    const auto& apis = tables_.apis();
    shortage.of_allocator =
        record.api < apis.size() && apis[record.api].memory == format::Memory::suballocated;
    if (const auto retries = retries_.find(logged.device); retries != retries_.end())
        shortage.retries = retries->second;
    if (shortage.of_allocator)
        absorb_refusals(shortage, heap);
    else if (heap.is_cut())
        follow_refusal(shortage, heap);
    ++count_;
    if (const DeviceMemory::Device* const device_memory = memory.device(shortage.device))
        shortage.parts = memory.now(*device_memory);
    const std::uint64_t events = heap.counts().events;
    const bool early = last_.empty() && first_.size() < kFirst;
    // Refusals that an allocator mends leave no row, and there can be very many of them.
    if ((early && (shortage.of_allocator || dropped_ < kFirst)) || events >= walk_again_at_) {
        walk_again_at_ = events + look_at_owners(shortage, heap) +
                         (shortage.of_allocator ? look_into_allocator(shortage, heap)
                                                : look_at_pieces(shortage, segments));
    }
    told_last_ = {shortage.row, shortage.thread};
    if (early) {
        first_.push_back(std::move(shortage));
        return;
    }
    last_.push_back(std::move(shortage));
    if (last_.size() > kLast)
        last_.pop_front();
}

void Shortages::add_mempool(const Record& record, const format::MempoolMemory& logged,
                            const HeapReplay& heap)
{
    LoggedShortage* const last = !last_.empty()    ? &last_.back()
                                 : !first_.empty() ? &first_.back()
                                                   : nullptr;
    if (!last || last->row != told_last_.row || record.thread != told_last_.thread ||
        device_ordinal(logged.device) != last->device)
        return;
    LoggedMempool& pool = last->mempools.emplace_back();
    pool = {logged.pool.value, logged.reserved, logged.used, logged.maximum, record.ticks, {}};
    if (const Pools::FirstUse* const first =
            heap.mempools().first_use(logged.device, logged.pool.value))
        pool.first = *first;
}

// How many blocks that took.
std::uint64_t Shortages::look_at_owners(LoggedShortage& shortage, HeapReplay& heap)
{
    StackSums sums;
    std::uint64_t blocks = 0;
    heap.for_each_alive([&](const Block& block) {
        ++blocks;
        const bool here =
            shortage.device < 0 || block.device < 0 || block.device == shortage.device;
        // Managed memory lies where it is used, and makes room.
        if (here && class_of(block.memory) == format::MemoryClass::device &&
            block.memory != format::Memory::managed) {
            sums.add(block);
            shortage.held += block.bytes;
        }
    });
    shortage.owners = sums.largest(kOwners);
    shortage.owners_known = true;
    return blocks;
}

// How many segments and pieces.
std::uint64_t Shortages::look_at_pieces(LoggedShortage& shortage, const SegmentReplay& segments)
{
    const DevicePool* const pool = segments.device(shortage.device);
    if (!pool)
        return 0;
    const PieceSizes free = note_pieces(shortage, segments.now(*pool));
    return segments.segments() + free.pieces();
}

// The same of an allocator of the program's: its own pieces count, not the pool's below it.
std::uint64_t Shortages::look_into_allocator(LoggedShortage& shortage, HeapReplay& heap)
{
    PoolSnapshot pieces = pieces_of(heap, shortage.api, shortage.device);
    std::uint64_t looked_at = 0;
    for (const SegmentPieces& segment : pieces.segments)
        looked_at += 1 + segment.blocks.size();
    shortage.largest_gap = note_pieces(shortage, std::move(pieces)).largest();
    return looked_at;
}

std::vector<LoggedShortage> Shortages::kept() const
{
    std::vector<LoggedShortage> kept = first_;
    kept.insert(kept.end(), last_.begin(), last_.end());
    return kept;
}

} // namespace vramscope::report
