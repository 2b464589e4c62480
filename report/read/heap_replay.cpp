// report/read/heap_replay.cpp — one case per record, and the sums of live bytes.
#include "report/read/heap_replay.hpp"

#include <algorithm>
#include <utility>

#include "report/read/memory_class.hpp"

namespace vramscope::report {

using format::Cursor;
using format::KeySpace;
using format::Memory;
using format::Tag;

namespace {

// Dead blocks may wait in the table until there are so many, and more than live ones.
constexpr std::uint64_t kSweepAt = 4096;

// Addresses stay below 2^57, so the space fits above them.
std::uint64_t key_of(Memory memory, std::uint64_t address) noexcept
{
    return address ^ static_cast<std::uint64_t>(format::key_space(memory)) << 60;
}

// Of a block whose address is handed out while it is there. A graph's memory goes with the graph;
// owners are only listed.
bool misses_its_free(Memory memory) noexcept
{
    return memory != Memory::graph && class_of(memory) != MemoryClass::owner;
}

} // namespace

HeapReplay::HeapReplay(LogTables& tables, std::uint64_t exit_began_ticks,
                       std::function<void()> find_apis)
    : tables_(tables), exit_began_ticks_(exit_began_ticks), find_apis_(std::move(find_apis))
{
}

void HeapReplay::apply(const Record& record)
{
    if (record.timed) {
        ++counts_.events;
        counts_.last_ticks = std::max(counts_.last_ticks, record.ticks);
    }
    if (names_entry_point(record.tag) && record.tag != Tag::failed)
        seen_api(record);
    switch (record.tag) {
    case Tag::alloc:
        if (const Api* const api = api_of(record)) {
            const bool graph = api->memory == Memory::async && record.place->capturing;
            allocate(record, graph ? Memory::graph : api->memory);
        }
        return;
    case Tag::free:
        if (const Api* const api = api_of(record))
            free(record, api->memory);
        return;
    case Tag::context_gone:
        destroy_context(record);
        return;
    case Tag::map:
        map(record);
        return;
    case Tag::unmap:
        unmap(record);
        return;
    case Tag::retain:
        retain(record);
        return;
    case Tag::failed:
        note_failure(record);
        return;
    case Tag::range_push: {
        Cursor in = record.body;
        phases_.push(record.thread, in.prefixed_text());
        return;
    }
    case Tag::range_pop:
        phases_.pop(record.thread);
        return;
    default:
        tables_.define(record);
        return;
    }
}

Api* HeapReplay::seen_api(const Record& record)
{
    Api* api = tables_.api(record.api);
    if (!api && find_apis_) {
        std::exchange(find_apis_, nullptr)();
        api = tables_.api(record.api);
    }
    if (api)
        ++api->events;
    return api;
}

// The entry point of an allocation or a free; nullptr, and counted, if the log does not say what it
// does.
Api* HeapReplay::api_of(const Record& record)
{
    Api* const api = seen_api(record);
    if (api && api->memory != Memory::none)
        return api;
    ++counts_.undefined_events;
    return nullptr;
}

void HeapReplay::allocate(const Record& record, Memory memory)
{
    counts_.allocations += class_of(memory) != MemoryClass::owner;
    counts_.graph_allocations += memory == Memory::graph;
    if (is_own_memory(memory)) {
        ++counts_.memory_allocations;
        counts_.allocated_bytes += record.bytes;
    }
    Block block = make_block(record, memory);
    if (format::key_space(memory) == KeySpace::physical) {
        if (physical_.knows(record.address)) {
            ++counts_.missed_frees;
            physical_.forget_handle(record.address,
                                    [this](const Block& old) { finish_block(old); });
        }
        enter(block);
        physical_.create(record.address, block);
    } else if (Block* const occupant = live_.find(key_of(memory, record.address))) {
        replace(*occupant, block);
    } else {
        enter(block);
        live_.insert(key_of(memory, record.address), block);
    }
}

Block HeapReplay::make_block(const Record& record, Memory memory)
{
    Block block;
    block.ticks = record.ticks;
    block.bytes = record.bytes;
    block.stack = record.stack;
    block.context = context_index(record.place->context);
    block.context_life = contexts_[block.context].life;
    block.thread = record.thread;
    block.phase = phases_.current(record.thread);
    block.device =
        static_cast<std::int16_t>(std::clamp<std::int64_t>(record.place->device, -1, INT16_MAX));
    block.api = static_cast<std::uint16_t>(record.api);
    block.memory = memory;
    phases_.hold(block.phase);
    return block;
}

std::uint32_t HeapReplay::context_index(std::uint64_t id)
{
    const auto [found, added] =
        context_of_id_.try_emplace(id, static_cast<std::uint32_t>(contexts_.size()));
    if (added)
        contexts_.emplace_back();
    return found->second;
}

// An address is handed out while a block is there: the block's context is gone, or its free was not
// seen, or the free comes late because another thread wrote it down only after its driver call.
void HeapReplay::replace(Block& occupant, Block successor)
{
    if (is_dead(occupant)) {
        --dead_blocks_;
        lost_.add(occupant, fate_of(occupant));
    } else if (occupant.memory == Memory::ipc && successor.memory == Memory::ipc) {
        ++occupant.opened_again;
        phases_.release(successor.phase);
        return;
    } else if (went_with_context(occupant)) {
        leave(occupant);
        lost_.add(occupant, Fate::context_gone);
    } else {
        leave(occupant);
        successor.displaced = misses_its_free(occupant.memory);
        counts_.missed_frees += successor.displaced;
    }
    phases_.release(occupant.phase);
    enter(successor);
    occupant = successor;
}

void HeapReplay::free(const Record& record, Memory memory)
{
    if (format::key_space(memory) == KeySpace::physical) {
        free_physical(record.address);
        return;
    }
    Block* const block = live_.find(key_of(memory, record.address));
    const bool of_the_one_before = block && record.ticks < block->ticks;
    if (!block || is_dead(*block) || (of_the_one_before && !block->displaced)) {
        counts_.unmatched_frees += class_of(memory) != MemoryClass::owner;
        return;
    }
    counts_.frees += class_of(memory) != MemoryClass::owner;
    counts_.memory_frees += is_own_memory(block->memory);
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
    finish_block(*block);
    live_.erase(block);
}

void HeapReplay::free_physical(std::uint64_t handle)
{
    const auto died = [this](const Block& block) {
        counts_.memory_frees += is_own_memory(block.memory);
        finish_block(block);
    };
    if (physical_.release(handle, died))
        ++counts_.frees;
    else
        ++counts_.unmatched_frees;
}

void HeapReplay::map(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t address = in.varint();
    const std::uint64_t bytes = in.varint();
    const std::uint64_t handle = in.varint();
    if (in.ok())
        physical_.map(address, bytes, handle, [this](const Block& block) { finish_block(block); });
}

void HeapReplay::unmap(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t address = in.varint();
    const std::uint64_t bytes = in.varint();
    const auto died = [this](const Block& block) {
        counts_.memory_frees += is_own_memory(block.memory);
        finish_block(block);
    };
    if (in.ok())
        physical_.unmap(address, bytes, died);
}

void HeapReplay::retain(const Record& record)
{
    Cursor in = record.body;
    physical_.retain(in.varint());
}

void HeapReplay::note_failure(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t result = in.varint();
    in.varint(); // address
    const std::uint64_t bytes = in.varint();
    if (counts_.failed_calls++ == 0)
        first_failed_ = {.api = record.api, .result = result, .bytes = bytes};
}

void HeapReplay::destroy_context(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t id = in.varint();
    if (!in.ok() || id == 0)
        return; // 0: blocks of unknown contexts are not this one's
    Context& context = contexts_[context_index(id)];
    const bool by_exit = exit_began_ticks_ != 0 && record.ticks >= exit_began_ticks_;
    if (by_exit)
        context.first_life_ended_by_exit = std::min(context.first_life_ended_by_exit, context.life);
    ++context.life;
    device_bytes_ -= std::exchange(context.device_bytes, 0);
    host_bytes_ -= std::exchange(context.host_bytes, 0);
    dead_blocks_ += std::exchange(context.blocks, 0);
    if (dead_blocks_ > kSweepAt && dead_blocks_ > live_.size() / 2)
        sweep();
}

// cuda.h does not say whether a context takes its registrations and its mappings of external memory
// along: where the address came again, it did.
bool HeapReplay::went_with_context(const Block& block) const noexcept
{
    return (block.memory == Memory::registered || block.memory == Memory::imported) &&
           block.context_life < contexts_[block.context].life;
}

bool HeapReplay::is_dead(const Block& block) const noexcept
{
    return dies_with_context(block.memory) && block.context_life < contexts_[block.context].life;
}

Fate HeapReplay::fate_of(const Block& block) const noexcept
{
    if (!is_dead(block))
        return Fate::kept;
    const bool by_exit = block.context_life >= contexts_[block.context].first_life_ended_by_exit;
    return by_exit ? Fate::context_gone_at_exit : Fate::context_gone;
}

void HeapReplay::enter(const Block& block)
{
    const std::uint64_t device = class_of(block.memory) == MemoryClass::device ? block.bytes : 0;
    const std::uint64_t host = class_of(block.memory) == MemoryClass::host ? block.bytes : 0;
    device_bytes_ += device;
    host_bytes_ += host;
    counts_.peak_device_bytes = std::max(counts_.peak_device_bytes, device_bytes_);
    counts_.peak_host_bytes = std::max(counts_.peak_host_bytes, host_bytes_);
    if (dies_with_context(block.memory)) {
        Context& context = contexts_[block.context];
        context.device_bytes += device;
        context.host_bytes += host;
        ++context.blocks;
    }
}

void HeapReplay::leave(const Block& block)
{
    const std::uint64_t device = class_of(block.memory) == MemoryClass::device ? block.bytes : 0;
    const std::uint64_t host = class_of(block.memory) == MemoryClass::host ? block.bytes : 0;
    device_bytes_ -= device;
    host_bytes_ -= host;
    if (dies_with_context(block.memory)) {
        Context& context = contexts_[block.context];
        context.device_bytes -= device;
        context.host_bytes -= host;
        --context.blocks;
    }
}

// A live block that was given back.
void HeapReplay::finish_block(const Block& block)
{
    leave(block);
    phases_.release(block.phase);
}

void HeapReplay::sweep()
{
    live_.erase_if([this](std::uint64_t, const Block& block) {
        if (!is_dead(block))
            return false;
        lost_.add(block, fate_of(block));
        phases_.release(block.phase);
        return true;
    });
    dead_blocks_ = 0;
}

void HeapReplay::finish()
{
    live_.for_each([this](std::uint64_t, const Block& block) { lost_.add(block, fate_of(block)); });
    physical_.for_each([this](const Block& block) { lost_.add(block, Fate::kept); });
}

} // namespace vramscope::report
