// report/reach/holder_search.hpp — looks through all memory for holders, level by level.
//
// Each level is one search: first for pointers to the wanted blocks, then for pointers to the heap
// blocks that have these, until roots are found. Memory grows with what holds, not with the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "report/reach/heap_blocks.hpp"
#include "report/reach/holders.hpp"
#include "report/reach/memory/memory_map.hpp"
#include "report/reach/memory/sieve.hpp"

namespace vramscope::report {

struct WantedBlock : AddressSpan {
    bool host = false; // its own words may hold others
};

// A pointer that was found.
struct FoundPointer {
    NodeId target = kNoNode;
    Address word = 0;
    std::uint64_t value = 0;
    bool in_digits = false; // the word is the digits of an int of Python's, whose value it is
};

// What searches look through, and what is known of it.
struct SearchedMemory {
    const ProcessMemory& memory;
    const MemoryMap& map;
    const ModuleNames& modules;
    const HeapBlocks& heap;
    const PythonMemory* python = nullptr; // null: there is no interpreter that is known
};

class HolderSearch {
public:
    // `wanted` is sorted by address. All that it is given outlives this.
    HolderSearch(const SearchedMemory& searched, const std::vector<WantedBlock>& wanted);

    // All levels, or one after the other.
    void run();
    std::vector<FoundPointer> find_pointers(); // of this level, by address
    void take(const std::vector<FoundPointer>& found);
    bool is_done() const;

    const Holders& holders() const { return holders_; }
    // Some pointer or holder was not looked at any more; perhaps one above a wanted block.
    bool left_open() const { return is_cut_ || is_full() || !frontier_.empty(); }
    bool left_open_above(NodeId wanted) const;
    // Memory whose words may hold others, and that no region has: a driver's mapping, say.
    bool has_unread_host() const { return has_unread_host_; }
    unsigned levels() const { return levels_; }
    std::uint64_t searched_bytes() const { return searched_bytes_; } // by one level

private:
    static constexpr unsigned kLeastLevels = 64; // a long list of little memory has many more
    static constexpr std::uint64_t kMostBytesOfAll = std::uint64_t{16} << 30;
    static constexpr unsigned kLevelsByType = 24, kLevelsBelowObjects = 4, kLevelsToBeSure = 4;
    static constexpr unsigned kLevelsOfDigits = 4; // of ints: what has the block may be theirs
    static constexpr std::size_t kNodesByType = 100'000, kNodesToBeSure = 20'000;
    static constexpr std::size_t kMostNodes = 1'000'000;

    void find_open();
    bool is_full() const { return holders_.nodes().size() > kMostNodes; }
    bool looks_for_types();
    bool may_be_by_type(NodeId node) const;
    void search_digits(const Sieve& sieve, const std::vector<NodeId>& targets, Address from,
                       std::span<const std::uint64_t> words, std::vector<FoundPointer>& found);
    void search_registers(const Sieve& sieve, const std::vector<NodeId>& targets);
    void take_region(const Region& region, const std::vector<FoundPointer>& found);
    bool note_used(NodeId node, Address object, NodeId target);
    bool take_frame(const FoundPointer& pointer);
    void take_variable(const Region& region, const FoundPointer& pointer);
    void take_stack(const Region& stack, const FoundPointer& pointer);
    void take_digits(const HeapBlock& block, const Region& region, const FoundPointer& pointer);
    void take_block(const HeapBlock& block, const Region& region, const FoundPointer& pointer);
    NodeId add_block(const AddressSpan& block, RootKind kind, Address object);
    void add_root(RootKind kind, std::size_t thread, const FoundPointer& pointer);
    Link link_of(const FoundPointer& pointer) const;
    bool proves_little(const Region& region, const FoundPointer& pointer) const;

    const ProcessMemory& memory_;
    const MemoryMap& map_;
    const HeapBlocks& heap_;
    const ModuleNames& modules_;
    const PythonMemory* const python_;
    const bool has_ints_;
    const std::vector<WantedBlock>& wanted_;
    const Sieve wanted_sieve_;
    Holders holders_;
    std::vector<NodeId> frontier_; // what this level looks for
    // What no level looked for: what it leads to is held by others, until it leads to more.
    std::vector<NodeId> waiting_;
    bool is_cut_ = false; // there were more pointers than are followed
    bool has_unread_host_ = false;
    std::vector<char> open_; // which nodes the last frontier leads down to; empty: it has none
    unsigned levels_ = 0;
    unsigned most_levels_by_type_ = kLevelsByType;
    std::uint64_t searched_bytes_ = 0;
    std::uint64_t bytes_of_all_ = 0; // by all levels
};

} // namespace vramscope::report
