// report/reach/heap_blocks.hpp — from addresses in a heap to the blocks around them.
//
// The C library's chunks have headers, so one walk from the heap's beginning finds the blocks of
// any number of addresses. Of a process that stands still, where chunks begin is kept for one in
// each 64 KiB: later walks begin there, and read what they need. Blocks end eight bytes early:
// lists of free chunks point to the header behind, which begins there.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "report/reach/memory/memory_map.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/reach/python/python_memory.hpp"

namespace vramscope::report {

struct HeapBlock : AddressSpan {
    enum class State {
        live,
        unused,  // free, or the allocator's own
        unknown, // it is not known how this memory is cut
    };
    State state = State::unknown;
};

// Where some chunks of a heap begin.
class ChunkStarts {
public:
    // Of those that are known to begin before an address, the last; 0: none is.
    Address last_before(Address address) const;
    void note(Address chunk); // they come in order, but for those that were noted before

private:
    static constexpr Address kApart = 64 << 10;
    std::vector<Address> starts_;
};

class HeapBlocks {
public:
    // `python`: null where there is no interpreter whose pools are known.
    explicit HeapBlocks(const ProcessMemory& memory, const PythonMemory* python = nullptr)
        : memory_(memory), python_(python)
    {
    }

    // The block around each address; these are sorted, and in that region.
    std::vector<HeapBlock> around(const Region& region,
                                  const std::vector<Address>& addresses) const;

private:
    std::vector<HeapBlock> in_heap(const Region& heap, const std::vector<Address>& addresses) const;
    std::vector<HeapBlock> in_mapped(const Region& region,
                                     const std::vector<Address>& addresses) const;
    bool is_list_of_freed(Address begin, std::uint64_t bytes) const;
    HeapBlock own_mapping(Address address, Address lowest, Address end) const;

    const ProcessMemory& memory_;
    const PythonMemory* python_;
    mutable std::map<Address, ChunkStarts> starts_; // by the heap's beginning
};

} // namespace vramscope::report
