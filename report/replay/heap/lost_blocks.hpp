// report/replay/heap/lost_blocks.hpp — blocks that were never freed, summed up per stack.
//
// A block is summed up once, when its fate is known; what is kept grows with distinct stacks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "report/replay/heap/phases.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

using SiteId = std::uint32_t; // index into Sites

// One allocation that is alive, as the replay keeps it.
struct Block {
    std::uint64_t ticks = 0;
    std::uint64_t address = 0; // or handle
    std::uint64_t bytes = 0;
    std::uint64_t stack = 0;
    std::uint32_t context = 0; // LiveSums' number for it
    std::uint32_t context_life = 0;
    std::uint32_t thread = 0;
    PhaseId phase = 0;
    std::int16_t device = -1;
    std::uint16_t api = 0;
    format::Memory memory = format::Memory::none;
    bool displaced = false;         // took the place of a block whose free may still come, late
    bool mortal = false;            // dies with its context
    bool shared = false;            // was given a name that others can open
    std::uint16_t opened_again = 0; // closes that a mapping needs beyond the first
    SiteId site = 0;
};
static_assert(sizeof(Block) <= 64); // a line of the cache: see Slab

// What became of blocks that were never freed.
enum class Fate : std::uint8_t {
    kept,                 // alive when the log ends
    context_gone,         // destroyed with their context while the program ran
    context_gone_at_exit, // … after its exit had begun
};
constexpr bool is_known(Fate fate) noexcept
{
    return fate <= Fate::context_gone_at_exit;
}

// Blocks of one stack that shared a fate.
struct LostBlocks {
    Fate fate = Fate::kept;
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1;
    std::uint64_t api = 0;
    std::uint64_t stack = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::uint64_t shared_blocks = 0; // blocks that others may have open
    std::uint64_t first_ticks = 0;
    std::uint64_t last_ticks = 0;
    std::vector<std::uint32_t> threads; // indexes, sorted
    std::vector<std::string> phase;     // the path of ranges that all blocks share
    bool phases_differ = false;
    std::vector<std::string> names; // that the program gave to blocks: see add_name

    // One more block of this stack: all but its fate, its thread and its phase.
    void add(const Block& block);
};

// Names in the order of the alphabet, the first few.
void add_name(std::vector<std::string>& names, const std::string& name);

class LostSums {
public:
    // `phases` outlives this; a phase is held while the sum it was last seen in needs it.
    explicit LostSums(Phases& phases) : phases_(phases) {}

    // Older blocks are left out, and what is known already: that is of older ones.
    void list_since(std::uint64_t ticks)
    {
        since_ticks_ = ticks;
        groups_.clear();
    }

    // `name`: what the program calls the block; empty: nothing.
    void add(const Block& block, Fate fate, const std::string& name = {});

    // The block may be of any kind: memory, or what is listed without being lost.
    std::vector<LostBlocks> sums() const;

    auto state() noexcept { return std::tie(groups_); } // see report/checkpoint
    template <typename Visit>
    void for_each_phase(Visit visit) const // that is held
    {
        for (const auto& [key, group] : groups_)
            visit(group.last_phase);
    }

private:
    struct Group {
        LostBlocks sum;
        PhaseId last_phase = 0; // held: the path of a block with the same phase is known
    };
    using GroupKey = std::tuple<std::uint64_t, std::uint64_t, format::Memory, std::int32_t, Fate>;

    Phases& phases_;
    std::uint64_t since_ticks_ = 0;
    std::map<GroupKey, Group> groups_;
};

} // namespace vramscope::report
