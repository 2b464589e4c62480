// report/replay/heap/heap_replay_physical.cpp — physical memory, its mappings, shared memory.
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

using format::KeySpace;
using format::Memory;

namespace {

// Whether this is a tile of a sparse array: a number in place of an address, with one byte.
bool is_tile(std::uint64_t address) noexcept
{
    return address >> 63 != 0;
}

} // namespace

void HeapReplay::allocate_physical(const Block& block, std::uint64_t handle)
{
    if (physical_.knows(handle)) {
        if (block.memory == Memory::imported_physical) {
            physical_.retain(handle); // one more reference to what is known
            return phases_.release(block.phase);
        }
        if (take_pending(key_of(block.memory, handle), 0, block.ticks))
            ++counts_.frees;
        else
            ++counts_.missed_frees;
        physical_.forget_handle(handle, [&](const Block& old) { finish_gone(old, block.ticks); });
    }
    physical_.create(handle, block);
    unmapped_[handle] = block.ticks;
    if (block.memory != Memory::none)
        enter(block);
}

// For physical memory an allocator asks piece by piece, and for more than the driver has, perhaps.
void HeapReplay::note_refused_piece(const Record& record)
{
    const Api* const api = tables_.find_api(record.api);
    if (api && api->memory == Memory::physical)
        refused_piece_ = {record.thread, record.ticks};
}

// What it got before the refusal and gives back unmapped: see kNeverUsed.
void HeapReplay::note_unused(const Record& release)
{
    const auto piece = unmapped_.find(release.address);
    if (piece == unmapped_.end())
        return;
    if (refused_piece_.thread == release.thread && refused_piece_.ticks >= piece->second &&
        physical_.hangs_on_one_release(release.address))
        segment_births_.emplace(std::pair{piece->second, piece->first}, kNeverUsed);
    unmapped_.erase(piece);
}

void HeapReplay::end_physical(const Block& block, std::uint64_t ticks)
{
    if (block.memory == Memory::none)
        return phases_.release(block.phase);
    counts_.memory.frees += is_own_memory(block.memory);
    finish_freed(block, ticks);
}

void HeapReplay::free_physical(const Record& record)
{
    note_unused(record);
    const auto died = [&](const Block& block) { end_physical(block, record.ticks); };
    if (physical_.release(record.address, died))
        ++counts_.frees;
    else
        ++counts_.unmatched_frees;
}

void HeapReplay::map(const Record& record)
{
    const auto map = record.as<format::Map>();
    if (!map)
        return;
    Block* const block = physical_.find(map->handle);
    if (block && block->memory == Memory::imported_physical && !is_tile(map->address) &&
        map->bytes > block->bytes) {
        sites_.resize(*block, map->bytes); // its size was not known before
        block->bytes = map->bytes;
    }
    if (cutting_ && block && block->memory != Memory::segment)
        mappings_.add(map->address, map->bytes);
    unmapped_.erase(map->handle);
    physical_.map(map->address, map->bytes, map->handle,
                  [&](const Block& old) { finish_gone(old, record.ticks); });
}

void HeapReplay::unmap(const Record& record)
{
    const auto died = [&](const Block& block) { end_physical(block, record.ticks); };
    const auto unmap = record.as<format::Unmap>();
    if (!unmap)
        return;
    physical_.unmap(unmap->address, unmap->bytes, died);
    if (cutting_)
        mappings_.remove_from(unmap->address, unmap->bytes);
}

void HeapReplay::share(const Record& record)
{
    const auto shared = record.as<format::Shared>();
    if (!shared)
        return;
    const Api* const api = tables_.find_api(record.api);
    const bool pointer = !api || api->memory == Memory::none;
    const Memory memory = pointer ? Memory::device : api->memory;
    Block* block = format::key_space(memory) == KeySpace::physical
                       ? physical_.find(shared->address)
                       : live_.find(key_of(memory, shared->address)).block;
    if (!block && format::key_space(memory) == KeySpace::pointer)
        block = physical_.find_mapped(shared->address);
    if (block)
        block->shared = true;
    ++counts_.names_given;
}

} // namespace vramscope::report
