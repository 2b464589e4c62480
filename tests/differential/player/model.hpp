// tests/differential/player/model.hpp — the oracle: what is alive, and what a report must say.
//
// It knows nothing of logs and little of drivers: a success of an allocation makes a block, a
// success of a free ends it, and a context takes along what is not told to survive it. Its only
// questions to the driver are which context is current and whether one still lives.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace differential {

// In the order of kKindNames, which are the report's words.
enum class Kind {
    device,
    pitched,
    managed,
    async,
    pinned,
    registered,
    array,
    mipmap,
    physical,
    graph_launch, // what a launch left, at the address of its node
    reservation,
    graph,
    foreign, // memory of others, mapped here
    shared,  // handles of what others may open or made: imported, multicast
};
constexpr unsigned kKinds = 14;
constexpr const char* kKindNames[kKinds] = {
    "device", "pitched",  "managed",      "async",       "pinned", "registered", "array",
    "mipmap", "physical", "graph_launch", "reservation", "graph",  "foreign",    "shared"};

constexpr bool is_memory(Kind kind)
{
    return kind < Kind::reservation;
}

constexpr bool dies_with_context(Kind kind)
{
    return kind == Kind::device || kind == Kind::pitched || kind == Kind::managed ||
           kind == Kind::pinned || kind == Kind::registered || kind == Kind::array ||
           kind == Kind::mipmap || kind == Kind::foreign;
}

struct Block {
    Kind kind;
    unsigned number;       // what transcripts call it
    std::uint64_t address; // an address or a handle
    std::uint64_t bytes;   // as the report must count them
    std::uint64_t extent;  // how far a pointer may lie inside
    std::uint64_t context = 0;
    bool live = true;
    unsigned references = 1;    // from handles and mappings to physical memory
    unsigned handles = 1;       // how many of them are handles
    bool queued = false;        // work that uses it may be waiting
    bool ends_in_order = false; // freed in stream order: gone for the program, not for the driver
    std::uint64_t ended = 0;    // the number of allocations at that moment

    bool contains(std::uint64_t value) const { return value - address < extent; }
};

struct Mapping {
    std::uint64_t address, bytes;
    std::size_t physical; // the index of its block
    bool live = true;
};

struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

// Counts over all sequences of this process.
struct Totals {
    std::uint64_t allocations = 0; // those of memory alone
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t graph_allocations = 0;
    std::uint64_t recorded_allocations = 0; // those of all kinds
    std::uint64_t recorded_frees = 0;
    std::array<Sum, kKinds> at_exit{};
    std::array<Sum, kKinds> at_reset{};

    void write(std::FILE* out) const;
};

class Model {
public:
    void begin_sequence();
    // What is still alive leaks at the end of the process.
    void end_sequence();

    Block& allocated(Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t extent,
                     std::uint64_t context);
    void freed(Block& block);
    void released(Block& physical); // gives up one handle
    void mapped(std::uint64_t address, std::uint64_t bytes, Block& physical);
    void unmapped(std::uint64_t address, std::uint64_t bytes);
    void context_gone(std::uint64_t context);

    bool was_graphs(std::uint64_t address) const;
    // The block is not alive, and nothing was allocated since it was.
    bool ended_last(const Block& block) const
    {
        return !block.live && block.ended == totals_.recorded_allocations;
    }
    Block* live_at(std::uint64_t address, bool (*of_kind)(Kind));
    std::vector<Block>& blocks() { return blocks_; }
    std::vector<Mapping>& mappings() { return mappings_; }
    const Totals& totals() const { return totals_; }

private:
    void end(Block& block);
    void keep_from_others(std::uint64_t address, std::uint64_t bytes);
    void let_go(Block& physical);

    std::vector<Block> blocks_;
    std::vector<Mapping> mappings_;
    std::vector<std::pair<void*, std::uint64_t>> placeholders_;
    Totals totals_;
};

} // namespace differential
