// report/replay/address_past.hpp — what is, or was last, at each address of one key space.
//
// Blocks, alive or ended, which do not overlap: of one that others were begun over, the pieces that
// are left. Memory grows with those pieces that cover a followed address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "report/replay/lookup/flat_map.hpp"
#include "tracker/format/memory.hpp"

namespace vramscope::report {

// A call that a stack is known of.
struct LoggedCall {
    std::uint64_t api = 0;
    std::uint64_t stack = 0; // 0: none
    std::uint64_t ticks = 0; // 0: there was no such call
};

// Which addresses are of interest.
class FollowedAddresses {
public:
    FollowedAddresses() = default; // all
    explicit FollowedAddresses(const std::unordered_set<std::uint64_t>& addresses);

    bool all() const noexcept { return all_; }
    bool has(std::uint64_t address) const;
    bool any_of(std::uint64_t start, std::uint64_t end) const;

private:
    bool all_ = true;
    std::vector<std::uint64_t> addresses_; // sorted
};

struct BlockLife {
    std::uint64_t end = 0;   // where the piece ends that is left of it
    std::uint64_t start = 0; // where the block starts
    std::uint64_t bytes = 0;
    format::Memory memory = format::Memory::none;
    LoggedCall allocation;
    LoggedCall ended; // ticks 0: it is alive
    std::uint64_t context = 0;
    std::uint64_t context_deaths = 0; // when it was allocated
    std::uint64_t references = 1;
    bool mortal = false; // dies with its context

    bool is_alive() const noexcept { return ended.ticks == 0; }
};

class AddressPast {
public:
    static constexpr std::size_t kMostEnded = 4096;

    AddressPast() = default;
    AddressPast(const AddressPast& other);
    AddressPast(AddressPast&&) = default;

    // Null: there is none. Valid until the next begin() or forget_oldest().
    const BlockLife* at(std::uint64_t address) const;
    BlockLife* alive_at(std::uint64_t first); // that begins there
    std::vector<BlockLife*> alive_in(std::uint64_t start, std::uint64_t bytes);

    // Instead of all that is or was in its range.
    void begin(std::uint64_t address, std::uint64_t end, BlockLife life,
               const FollowedAddresses& followed);
    void finish(BlockLife& life, LoggedCall by);

    // More than twice kMostEnded have ended: time to forget all but the kMostEnded that ended last.
    bool has_many_ended() const noexcept { return ended_ >= 2 * kMostEnded; }
    void forget_oldest();

    const auto& lives() const noexcept { return lives_; }

    auto state() noexcept { return std::tie(lives_, ended_); } // see report/checkpoint
    bool rebuild();                                            // whether it is what it can be

private:
    // Keyed by their first address. What ends stays where it was, as its address is soon given
    // again.
    using Lives = std::map<std::uint64_t, BlockLife>;

    void add(Lives::iterator behind, std::uint64_t first, const BlockLife& life);
    Lives::iterator remove(Lives::iterator at);
    Lives::iterator clear(Lives::iterator at, std::uint64_t start, std::uint64_t end,
                          const FollowedAddresses& followed);

    Lives lives_;
    std::size_t ended_ = 0;        // of these
    FlatMap<BlockLife*> of_first_; // all of these: nearly every call names a first address
};

} // namespace vramscope::report
