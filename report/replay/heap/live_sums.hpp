// report/replay/heap/live_sums.hpp — bytes alive, and what contexts took with them.
//
// A context dies in one step however many blocks it has: it begins a new life, and its blocks are
// known to be dead by the number of theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "report/replay/heap/lost_blocks.hpp"

namespace vramscope::report {

class LiveSums {
public:
    // As in the file header.
    explicit LiveSums(std::uint64_t exit_began_ticks) : exit_began_ticks_(exit_began_ticks) {}

    // Gives the block its context and that one's present life.
    void place(Block& block, std::uint64_t context_id);

    void enter(const Block& block); // it is alive from here
    void leave(const Block& block); // it was alive, and is given back
    std::uint32_t destroy(std::uint64_t context_id, std::uint64_t ticks); // our number for it

    // Our number for it, if it has had any block.
    std::optional<std::uint32_t> find(std::uint64_t context_id) const;

    bool context_is_gone(const Block& block) const noexcept;
    bool is_dead(const Block& block) const noexcept; // its context died and took it along
    Fate fate_of(const Block& block) const noexcept; // if it is not freed any more

    std::uint64_t peak_device_bytes() const noexcept { return peak_device_bytes_; }
    std::uint64_t peak_host_bytes() const noexcept { return peak_host_bytes_; }

    // Dead blocks that may still be in a table.
    std::uint64_t dead_blocks() const noexcept { return dead_blocks_; }
    void forget_dead(std::uint64_t blocks) noexcept { dead_blocks_ -= blocks; }

    auto state() noexcept
    {
        return std::tie(contexts_, index_of_id_, device_bytes_, host_bytes_, peak_device_bytes_,
                        peak_host_bytes_, dead_blocks_);
    } // see report/checkpoint
    bool rebuild();
    bool knows(const Block& block) const noexcept { return block.context < contexts_.size(); }

private:
    struct Context {
        std::uint32_t life = 0;
        std::uint64_t device_bytes = 0; // bytes of its live blocks that die with it
        std::uint64_t host_bytes = 0;
        std::uint64_t blocks = 0;
        std::uint32_t first_life_ended_by_exit = UINT32_MAX;
    };
    std::uint32_t index_of(std::uint64_t context_id)
    {
        const bool again = context_id == last_id_ && !contexts_.empty();
        return again ? last_index_ : look_up(context_id);
    }
    std::uint32_t look_up(std::uint64_t context_id);

    std::uint64_t exit_began_ticks_;
    std::vector<Context> contexts_;
    std::unordered_map<std::uint64_t, std::uint32_t> index_of_id_;
    std::uint64_t last_id_ = 0; // the last that was looked up, if there is any context
    std::uint32_t last_index_ = 0;
    std::uint64_t device_bytes_ = 0;
    std::uint64_t host_bytes_ = 0;
    std::uint64_t peak_device_bytes_ = 0;
    std::uint64_t peak_host_bytes_ = 0;
    std::uint64_t dead_blocks_ = 0;
};

} // namespace vramscope::report
