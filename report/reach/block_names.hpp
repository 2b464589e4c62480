// report/reach/block_names.hpp — by what a program may know a block: addresses and handles.
#pragma once

#include <cstddef>
#include <vector>

#include "report/reach/memory/process_memory.hpp"
#include "report/replay/heap/heap_replay.hpp"

namespace vramscope::report {

struct BlockName : AddressSpan { // a handle is one byte
    enum class Words {
        none, // a handle: nothing lies there
        device,
        host, // what is read there may hold other blocks
    };
    std::size_t block = 0; // index
    Words words = Words::none;
};

// Of these blocks, which for_each_alive() visited, by where the names begin. What is too small to
// be told from other numbers is left out. Physical memory is known by its handle, by where it is
// mapped, and by where the reservation begins in which it is mapped: one address stands for all of
// that.
std::vector<BlockName> names_of(HeapReplay& heap, const std::vector<const Block*>& blocks);

} // namespace vramscope::report
