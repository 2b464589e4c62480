// report/replay/heap/heap_replay.cpp — one case for each record; how blocks are born and freed.
#include "report/replay/heap/heap_replay.hpp"

#include <algorithm>

namespace vramscope::report {

using format::KeySpace;
using format::Memory;
using format::Tag;

namespace {

// Whether a block has missed its free if its address is handed out while it is there. A graph's
// memory goes with the graph; owners are only listed.
bool misses_its_free(Memory memory) noexcept
{
    return memory != Memory::graph && !is_object(memory);
}

} // namespace

void HeapReplay::expect(const std::vector<PendingFree>& pending)
{
    for (const PendingFree& free : pending) {
        if (const Api* const api = tables_.find_api(free.api))
            pending_.emplace(key_of(api->memory, free.address), free);
    }
}

void HeapReplay::apply(const Record& record)
{
    if (record.timed) {
        ++counts_.events;
        counts_.last_ticks = std::max(counts_.last_ticks, record.ticks);
    }
    if (!is_hot(record.tag))
        return apply_rare(record);
    const Api* const api = api_of(record);
    if (!api)
        return;
    if (record.tag == Tag::free)
        return free(record, api->memory);
    const bool graph = api->memory == Memory::async && record.place.capturing;
    allocate(record, graph ? Memory::graph : api->memory);
}

void HeapReplay::apply_rare(const Record& record)
{
    if (format::names_entry_point(record.tag) && record.tag != Tag::failed)
        note_use(record);
    switch (record.tag) {
    case Tag::context:
        if (const auto context = record.as<format::Context>())
            context_handles_[context->id] = context->handle;
        return;
    case Tag::context_gone:
        return destroy_context(record);
    case Tag::map:
        return map(record);
    case Tag::unmap:
        return unmap(record);
    case Tag::retain:
        if (const auto retain = record.as<format::Retain>())
            physical_.retain(retain->handle);
        return;
    case Tag::pool:
        if (const auto pool = record.as<format::Pool>())
            pools_.define(*pool);
        return;
    case Tag::shared:
        return share(record);
    case Tag::blocks_gone:
        if (const auto gone = record.as<format::BlocksGone>())
            end_blocks(gone->address, gone->bytes, gone->api.value, record.ticks);
        return;
    case Tag::cut_from:
        if (const auto memory = record.as<format::CutFrom>()) {
            if (tables_.find_api(memory->api.value))
                cut_from(*memory, record.ticks);
            else
                ++counts_.undefined_events;
        }
        return;
    case Tag::block_name:
        return name_block(record);
    case Tag::trim:
        ++counts_.pool_trims;
        return;
    case Tag::failed:
        ++counts_.failed_calls;
        return failed_calls_.add(record, tables_.find_api(record.api));
    case Tag::out_of_memory:
        return note_refused_piece(record);
    case Tag::range_push:
        if (const auto range = record.as<format::RangePush>())
            phases_.push(record.thread, range->name);
        return;
    case Tag::range_pop:
        return phases_.pop(record.thread);
    default:
        tables_.define(record);
        return;
    }
}

void HeapReplay::prefetch(std::span<const Record> soon)
{
    PrefetchGroup<std::uint64_t> freed;
    const std::span<const Api> apis = tables_.apis();
    for (const Record& record : soon) {
        if (!is_hot(record.tag) || record.api >= apis.size())
            continue;
        const std::uint64_t key = key_of(apis[record.api].memory, record.address);
        live_.prefetch(key);
        if (record.tag == Tag::free)
            freed.add(key);
        else
            prefetch_site(sites_.recent(record.stack));
    }
    live_.prefetch_blocks(freed, [this](const Block& block) { prefetch_site(block.site); });
}

void HeapReplay::prefetch_site(SiteId site) const
{
    sites_.prefetch(site);
    if (watch_)
        watch_->prefetch(site);
}

void HeapReplay::note_use(const Record& record)
{
    if (Api* const api = tables_.find_api(record.api))
        ++api->events;
}

// The entry point of an allocation or a free. Where the log does not say what it does: nullptr, and
// the event is counted.
Api* HeapReplay::api_of(const Record& record)
{
    Api* const api = tables_.find_api(record.api);
    if (api)
        ++api->events;
    if (api && api->memory != Memory::none)
        return api;
    ++counts_.undefined_events;
    return nullptr;
}

void HeapReplay::allocate(const Record& record, Memory memory)
{
    Block block = make_block(record, memory);
    counts_.allocations += !is_object(memory);
    if (is_own_memory(block.memory)) {
        ++counts_.memory.allocations;
        counts_.memory.allocated_bytes += record.bytes;
    }
    if (memory == Memory::graph) {
        ++counts_.graph_allocations;
        lost_.add(block, Fate::kept); // to be listed: it is the graph's to free
    }
    if (format::key_space(memory) == KeySpace::physical)
        return allocate_physical(block, record.address);
    if (cutting_ && format::key_space(memory) == KeySpace::pointer)
        allocations_.add(record.address, record.bytes);
    const std::uint64_t key = key_of(memory, record.address);
    if (Block* const occupant = live_.occupant_or_insert(key, block))
        replace(key, *occupant, block);
    else
        enter(block);
}

Block HeapReplay::make_block(const Record& record, Memory memory)
{
    Block block;
    block.ticks = record.ticks;
    block.address = record.address;
    block.bytes = record.bytes;
    block.stack = record.stack;
    sums_.place(block, record.place.context);
    block.thread = record.thread;
    block.phase = phases_.current(record.thread);
    block.device =
        static_cast<std::int16_t>(std::clamp<std::int64_t>(record.place.device, -1, INT16_MAX));
    block.api = static_cast<std::uint16_t>(record.api);
    block.memory = memory == Memory::async ? memory_of_mempool(record) : memory;
    block.mortal = dies_with_context(memory);
    if (memory == Memory::suballocated)
        cut(block);
    else
        look_up_birth(block);
    phases_.hold(block.phase);
    sites_.place(block, block.memory == Memory::segment ? 0 : phases_.kind(block.phase));
    return block;
}

Memory HeapReplay::memory_of_mempool(const Record& record)
{
    pools_.note_use(record);
    return pools_.memory(record.place.pool);
}

// An address is handed out while a block is there: the block's context is gone, or its free was not
// seen, or the free comes late because another thread wrote it down only after its driver call.
void HeapReplay::replace(std::uint64_t key, Block& occupant, Block successor)
{
    if (sums_.is_dead(occupant)) {
        sums_.forget_dead(1);
        lose(occupant);
    } else if (occupant.memory == Memory::ipc && successor.memory == Memory::ipc) {
        ++occupant.opened_again;
        phases_.release(successor.phase);
        return;
    } else if (occupant.memory == Memory::imported && successor.memory == Memory::imported) {
        phases_.release(successor.phase); // a pointer that is imported again: one free ends it
        return;
    } else if (occupant.memory == Memory::graph_launch && successor.memory == occupant.memory) {
        count_free(occupant); // the graph frees on launch
        finish_freed(occupant, successor.ticks);
    } else if (went_with_context(occupant)) {
        lost_.add(occupant, Fate::context_gone);
        finish_gone(occupant, successor.ticks);
    } else if (!misses_its_free(occupant.memory)) {
        finish_gone(occupant, successor.ticks);
    } else if (take_pending(key, occupant.ticks, successor.ticks)) {
        count_free(occupant); // it was in flight when the process ended, and had been done
        finish_freed(occupant, successor.ticks);
    } else {
        finish_gone(occupant, successor.ticks);
        successor.displaced = true;
        ++counts_.missed_frees;
    }
    occupant = successor;
    enter(successor);
}

bool HeapReplay::take_pending(std::uint64_t key, std::uint64_t after, std::uint64_t before)
{
    if (pending_.empty())
        return false;
    for (auto [at, end] = pending_.equal_range(key); at != end; ++at) {
        if (at->second.ticks >= after && at->second.ticks <= before) {
            pending_.erase(at);
            return true;
        }
    }
    return false;
}

void HeapReplay::count_free(const Block& block)
{
    counts_.frees += !is_object(block.memory);
    counts_.memory.frees += is_own_memory(block.memory);
}

void HeapReplay::free(const Record& record, Memory memory)
{
    if (memory == Memory::pool)
        pools_.destroy(record.address);
    if (format::key_space(memory) == KeySpace::physical)
        return free_physical(record);
    const LiveBlocks::Found block = live_.find(key_of(memory, record.address));
    const bool of_the_one_before = block && record.ticks < block->ticks && block->opened_again == 0;
    if (!block || sums_.is_dead(*block) || (of_the_one_before && !block->displaced)) {
        // A graph may free what was not allocated: the launch says so all the same.
        counts_.unmatched_frees += !is_object(memory) && memory != Memory::graph_launch;
        return;
    }
    count_free(*block);
    if (block->memory == Memory::graph)
        return; // each launch allocates it again, without a call
    if (block->opened_again > 0) {
        --block->opened_again;
        return;
    }
    if (of_the_one_before) {
        block->displaced = false;
        --counts_.missed_frees;
        return;
    }
    forget_name_before(*block);
    const bool was_cut = block->memory == Memory::segment;
    const std::uint64_t bytes = block->bytes;
    finish_freed(*block, record.ticks);
    live_.erase(block);
    if (cutting_ && format::key_space(memory) == KeySpace::pointer)
        allocations_.remove(record.address);
    if (was_cut)
        end_blocks(record.address, bytes, std::nullopt, record.ticks);
}

void HeapReplay::enter(const Block& block)
{
    sums_.enter(block);
    sites_.enter(block);
    if (watch_)
        watch_->born(block);
}

// A live block that was given back.
void HeapReplay::finish_freed(const Block& block, std::uint64_t ticks)
{
    sums_.leave(block);
    sites_.leave(block);
    sites_.count_free(block);
    if (watch_)
        watch_->freed(block, ticks);
    phases_.release(block.phase);
}

// A live block that is there no longer, and whose free was not seen.
void HeapReplay::finish_gone(const Block& block, std::uint64_t ticks)
{
    sums_.leave(block);
    sites_.leave(block);
    if (watch_)
        watch_->gone(block, ticks);
    phases_.release(block.phase);
}

ReplayCounts HeapReplay::counts() const
{
    ReplayCounts counts = counts_;
    counts.memory.peak_device_bytes = sums_.peak_device_bytes();
    counts.memory.peak_host_bytes = sums_.peak_host_bytes();
    return counts;
}

} // namespace vramscope::report
