// report/replay/heap/heap_replay_cuts.cpp — blocks that an allocator cut, and out of what.
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

using format::KeySpace;
using format::Memory;
using format::MemoryClass;

namespace {

bool can_be_cut(const Block& block) noexcept
{
    return class_of(block.memory) == MemoryClass::device && block.memory != Memory::suballocated;
}

} // namespace

// A block whose memory is known to be cut later: see segment_births.
void HeapReplay::look_up_birth(Block& block) const
{
    if (births_.empty() || !can_be_cut(block))
        return;
    const auto found = births_.find({block.ticks, block.address});
    if (found == births_.end())
        return;
    if (found->second == kNeverUsed)
        block.memory = Memory::none;
    else
        make_segment(block, found->second);
}

// What made the memory matters no longer: all of an allocator's segments are one site.
void HeapReplay::make_segment(Block& block, std::uint16_t allocator)
{
    block.memory = Memory::segment;
    block.api = allocator;
    block.stack = 0;
}

// From here on the ranges are kept up to date.
void HeapReplay::begin_cutting()
{
    cutting_ = true;
    live_.for_each([this](const Block& block) {
        if (format::key_space(block.memory) == KeySpace::pointer)
            allocations_.add(block.address, block.bytes);
    });
    physical_.for_each_mapping([this](std::uint64_t address, std::uint64_t bytes, const Block&) {
        mappings_.add(address, bytes);
    });
}

// A new block goes with the memory that it lies in, and that is a segment from here on.
void HeapReplay::cut(Block& block)
{
    if (!cutting_)
        begin_cutting();
    find_parent(block);
}

void HeapReplay::note_cut(const Record& record)
{
    if (!cutting_)
        begin_cutting();
    Block block;
    block.ticks = record.ticks;
    block.address = record.address;
    block.bytes = record.bytes;
    block.api = static_cast<std::uint16_t>(record.api);
    find_parent(block);
}

void HeapReplay::cut_from(const format::CutFrom& memory, std::uint64_t ticks)
{
    Block block;
    block.ticks = ticks;
    block.address = memory.address;
    block.bytes = memory.bytes;
    block.api = static_cast<std::uint16_t>(memory.api.value);
    cut(block);
}

void HeapReplay::find_parent(Block& block)
{
    if (const std::uint64_t* const begin = allocations_.around(block.address)) {
        const LiveBlocks::Found parent = live_.find(key_of(Memory::device, *begin));
        if (parent && !sums_.is_dead(*parent)) {
            if (can_be_cut(*parent))
                become_segment(*parent, block);
            block.device = block.device < 0 ? parent->device : block.device;
            block.context = parent->context;
            block.context_life = parent->context_life;
            block.mortal = parent->mortal;
            return;
        }
        allocations_.remove(*begin);
    }
    mappings_.take(block.address, block.bytes, [&](std::uint64_t begin) {
        Block* const parent = physical_.find_mapped(begin);
        if (parent && block.device < 0)
            block.device = parent->device;
        if (parent && can_be_cut(*parent))
            become_segment(*parent, block);
    });
}

// The log had not told: nobody knew until now that it is no allocation of the program's.
void HeapReplay::become_segment(Block& parent, const Block& first)
{
    segment_births_.emplace(std::pair{parent.ticks, parent.address}, first.api);
    --counts_.memory.allocations;
    counts_.memory.allocated_bytes -= parent.bytes;
    sums_.leave(parent);
    sites_.leave(parent);
    if (watch_)
        watch_->gone(parent, first.ticks);
    make_segment(parent, first.api);
    sites_.place(parent, 0);
    enter(parent);
}

// The blocks in these addresses are gone with what they were cut from; those of one allocator, if
// it is named.
void HeapReplay::end_blocks(std::uint64_t begin, std::uint64_t bytes,
                            std::optional<std::uint64_t> api, std::uint64_t ticks)
{
    for (const std::uint64_t address : live_.cuts_in(begin, bytes)) {
        const LiveBlocks::Found block = live_.find(key_of(Memory::suballocated, address));
        if (sums_.is_dead(*block) || (api && *api != block->api))
            continue;
        count_free(*block);
        finish_freed(*block, ticks);
        live_.erase(block);
    }
}

// Physical memory that is mapped side by side is one segment, as the allocator sees it.
std::vector<AllocatorSegment> HeapReplay::segments_now()
{
    std::vector<AllocatorSegment> segments;
    live_.for_each([&](const Block& block) {
        if (block.memory == Memory::segment && !sums_.is_dead(block))
            segments.push_back({block.api, block.device, block.address, block.bytes});
    });
    bool beside = false; // the last one is of mappings
    physical_.for_each_mapping(
        [&](std::uint64_t address, std::uint64_t bytes, const Block& memory) {
            AllocatorSegment next{memory.api, memory.device, address, bytes};
            if (memory.memory != Memory::segment)
                return;
            if (beside && segments.back().continues_in(next))
                segments.back().bytes += bytes;
            else
                segments.push_back(next);
            beside = true;
        });
    return segments;
}

void HeapReplay::name_block(const Record& record)
{
    const auto named = record.as<format::BlockName>();
    if (!named)
        return;
    if (!named->name.empty()) {
        names_[named->address] = {record.ticks, named->api.value, std::string(named->name)};
        return;
    }
    const auto before = names_.find(named->address);
    if (before != names_.end() && before->second.api == named->api.value)
        before->second.ticks = record.ticks;
}

// So that a name is of the last block at its address, which the next one may keep.
void HeapReplay::forget_name_before(const Block& freed)
{
    if (!names_.empty() && freed.memory == Memory::suballocated && name_of(freed).empty())
        names_.erase(freed.address);
}

// Empty: the program gave it none.
const std::string& HeapReplay::name_of(const Block& block) const
{
    static const std::string none;
    if (names_.empty() || block.memory != Memory::suballocated)
        return none;
    const auto found = names_.find(block.address);
    const bool its_own = found != names_.end() && found->second.ticks >= block.ticks &&
                         found->second.api == block.api;
    return its_own ? found->second.name : none;
}

} // namespace vramscope::report
