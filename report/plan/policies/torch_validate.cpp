// report/plan/policies/torch_validate.cpp — PyTorch's allocator: is all as it must be? For tests.
#include "report/plan/policies/torch.hpp"

namespace vramscope::report::plan {

const char* TorchPolicy::validate_block(BlockIndex index) const
{
    const HeapBlock& block = heap_[index];
    if (block.bytes == 0)
        return "a block of no bytes";
    const BlockIndex next = block.next;
    if (!next)
        return nullptr;
    if (heap_[next].previous != index)
        return "neighbours that do not know each other";
    if (heap_[next].address != block.address + block.bytes)
        return "neighbours with a gap between them";
    if (heap_[next].pool != block.pool || heap_[next].stream != block.stream)
        return "neighbours of two pools or streams";
    if (block.is_free() && block.state == heap_[next].state)
        return "free neighbours that were not joined";
    return nullptr;
}

// Every block is reached from a block that is in a list, or that lives.
const char* TorchPolicy::validate() const
{
    std::set<BlockIndex> seen;
    std::uint64_t mapped = 0, live = 0;
    const char* wrong = nullptr;
    const auto look = [&](BlockIndex index) {
        while (heap_[index].previous)
            index = heap_[index].previous;
        for (; index && seen.insert(index).second && !wrong; index = heap_[index].next) {
            mapped += heap_[index].state == State::unmapped ? 0 : heap_[index].bytes;
            live += heap_[index].state == State::live ? heap_[index].bytes : 0;
            wrong = validate_block(index);
        }
    };
    std::size_t listed = 0;
    for (const BlockPool& pool : heap_.pools()) {
        for (const BlockList* list : {&pool.free, &pool.unmapped}) {
            const State state = list == &pool.free ? State::free : State::unmapped;
            listed += list->size();
            for (const PlaceOfBlock& place : *list) {
                const HeapBlock& block = heap_[place.block];
                if (block.state != state || block.address != place.address ||
                    &heap_.pools()[block.pool] != &pool)
                    return "a list with a block that does not belong there";
                look(place.block);
            }
        }
    }
    for (const BlockIndex block : where_)
        if (block)
            look(block);
    for (const BlockIndex block : seen)
        listed -= heap_[block].is_free() ? 1 : 0;
    if (listed != 0)
        return "a free block that is in no list";
    if (mapped != device_.reserved())
        return "blocks that are not as much as is reserved";
    if (live != allocated_)
        return "live blocks that are not as much as is allocated";
    return wrong;
}

} // namespace vramscope::report::plan
