// tests/report/reach/heap_only.hpp — the memory of no process, and a search of it.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "report/reach/heap_blocks.hpp"
#include "report/reach/holder_search.hpp"
#include "report/reach/memory/memory_map.hpp"
#include "report/reach/memory/module_names.hpp"

namespace vramscope::report {

inline constexpr Address kHeap = 0x10000000;
inline constexpr std::uint64_t kInUse = 1;

// A heap of so many words, and nothing else.
class HeapOnly : public ProcessMemory {
public:
    explicit HeapOnly(std::size_t count) : words(count)
    {
        MemoryMapping heap;
        heap.begin = kHeap;
        heap.end = kHeap + count * sizeof words[0];
        heap.writable = true;
        heap.name = "[heap]";
        mappings_.push_back(heap);
        stopped_ = true;
    }

    bool read(Address from, void* to, std::size_t bytes) const override
    {
        if (from < kHeap || bytes > words.size() * 8 || from - kHeap > words.size() * 8 - bytes)
            return false;
        std::memcpy(to, reinterpret_cast<const char*>(words.data()) + (from - kHeap), bytes);
        return true;
    }
    void find_pages(Address, std::size_t count, std::vector<char>& there) const override
    {
        there.assign(count, 1);
    }

    void set_registers(const std::vector<std::uint64_t>& registers)
    {
        SeenThread thread;
        thread.registers = registers;
        threads_ = {thread};
    }

    std::vector<std::uint64_t> words;
};

// All levels, of this heap and the registers beside it.
struct HeapSearch {
    HeapSearch(const HeapOnly& memory, const std::vector<WantedBlock>& wanted)
        : modules(memory), map(memory, modules, "log", none), heap(memory),
          search({memory, map, modules, heap}, wanted)
    {
        search.run();
    }

    const ModuleNames modules;
    const std::vector<AddressSpan> none;
    const MemoryMap map;
    const HeapBlocks heap;
    HolderSearch search;
};

} // namespace vramscope::report
