// interpose/pool/split_policy.hpp — blocks cut from segments and joined again, by PyTorch's rules.
//
// Guarded by the pool's lock; calls nothing outside. A freed block waits in a queue, as stamps only
// grow; when it has passed it is joined with its free neighbours and goes to the bins. A few
// are joined at each call, so that none pays for all. Adjacent free blocks do not exist.
#pragma once

#include <array>

#include "interpose/pool/address_tree.hpp"
#include "interpose/pool/bins.hpp"
#include "interpose/pool/block_table.hpp"
#include "interpose/pool/rounding.hpp"

namespace vramscope::pool {

class SplitPolicy {
public:
    SplitPolicy(const Epochs& epochs, const Options& options) noexcept
        : epochs_(epochs), options_(options), rounds_up_(options.rounds_up())
    {
        table_.books.least_oversize = options.max_split_bytes;
    }

    BlockTable& table() noexcept { return table_; }
    const BlockTable& table() const noexcept { return table_; }

    std::uint64_t rounded(std::uint64_t bytes) const noexcept
    {
        return rounds_up_ ? round_block(options_, bytes) : round_up(bytes, kLeastBlock);
    }
    std::uint64_t segment_bytes(std::uint64_t rounded) const noexcept
    {
        return round_segment(rounded);
    }
    std::uint64_t least_segment_bytes(std::uint64_t rounded) const noexcept { return rounded; }

    // Returns a block that has passed, live now; 0: there is none.
    [[gnu::always_inline]] Index take(std::uint64_t rounded, std::uint64_t requested) noexcept
    {
        ++table_.turn;
        if (const Index index = passed_of_size(kind_of(rounded), rounded)) [[likely]] {
            Block& block = table_[index];
            unlink_pending(index, block);
            table_.books.passed_for_use(block.kind, 1, block.bytes);
            table_.make_live(block, requested);
            used(block);
            return index;
        }
        return take_free(rounded, requested);
    }

    // True if what is pending might serve once joined, and is so much that waiting pays.
    bool worth_waiting(std::uint64_t rounded) noexcept
    {
        const auto much_is_pending = [&] {
            return pending_bytes_[kind_of(rounded)] >= rounded &&
                   table_.books.pending_bytes() >= options_.pending_worth_waiting();
        };
        if (!much_is_pending())
            return false;
        pass(); // another thread's pool may have much that only has to be joined
        return much_is_pending();
    }

    // The block for the request in the new segment, live; 0: no room for it in the tables.
    Index add_segment(Address address, std::uint64_t bytes, std::uint64_t rounded,
                      std::uint64_t requested) noexcept;

    bool is_whole(Index index) const noexcept { return !is_split(table_[index]); }

    [[gnu::always_inline]] void put(Index index, Block& block, std::uint64_t stamp) noexcept
    {
        table_.books.freed(block);
        make_pending(index, block, stamp);
    }

    // Freed while pinned: not for use before release_held(); never, if it was pinned itself.
    void hold(Index index, std::uint64_t stamp) noexcept
    {
        Block& block = table_[index];
        table_.books.freed(block);
        block.state = State::held;
        block.mark = stamp;
        if (block.pinned)
            unused(block);
        else
            held_.append(table_, index);
    }
    void release_held(std::uint64_t stamp) noexcept
    {
        while (const Index index = held_.head()) {
            held_.remove(table_, index);
            make_pending(index, table_[index], stamp);
        }
    }

    // A live block that is a whole segment.
    void remove(Index index) noexcept { remove_segment(table_[index].group); }

    // Takes out an idle segment that serves this request, which another pool wants.
    bool move_out(std::uint64_t rounded, Leaving& leaving) noexcept
    {
        constexpr int kLooks = 16;
        const Kind kind = kind_of(rounded);
        Index at = idle_[kind].head;
        for (int looks = kLooks; at && looks > 0; --looks, at = segments_[at].newer) {
            if (!serves(segments_[at].bytes, rounded) || !is_reusable(segments_[at]))
                continue;
            take_out_segment(at, leaving);
            table_.books.disown(kind, leaving.bytes);
            return true;
        }
        return false;
    }
    // Whether another pool's block is taken, before more is: what does not move with a segment of
    // its own stays in its pool, whose lock each such call needs. Small ones are not worth that.
    static bool borrows(std::uint64_t rounded) noexcept { return kind_of(rounded) == kLarge; }

    // Upstream gave this memory out again, so what we knew there was freed without our knowledge.
    void drop_overlaps(Address address, std::uint64_t bytes) noexcept;

    std::uint64_t releasable_bytes() const noexcept { return idle_bytes_; }

    // Takes out a segment that has passed and that was used by none of the last `least_age`
    // searches; of the large ones only, if there is such a limit.
    bool take_out(Index&, std::uint64_t least_age, Leaving& leaving) noexcept
    {
        pass();
        for (const Kind kind : {kSmall, kLarge}) {
            const Index oldest = idle_[kind].head;
            if (!oldest || (least_age != 0 && kind == kSmall) || !has_passed(segments_[oldest]) ||
                table_.turn - segments_[oldest].idle_since < least_age)
                continue;
            return take_out_segment(oldest, leaving);
        }
        return false;
    }
    static constexpr Index kFirst = 1; // where a cursor starts

    // Takes out the segment that was idle for longest, passed or not: upstream waits for it then.
    bool take_out_oldest(Leaving& leaving) noexcept
    {
        const Index small = idle_[kSmall].head, large = idle_[kLarge].head;
        const Index oldest =
            !small || (large && segments_[large].idle_since < segments_[small].idle_since) ? large
                                                                                           : small;
        return oldest && take_out_segment(oldest, leaving);
    }

    // Mean age of the large segments that take_out() could take, in searches; false: none.
    bool mean_age(std::uint64_t& mean) const noexcept
    {
        std::uint64_t total = 0, count = 0;
        for (Index at = idle_[kLarge].head; at && has_passed(segments_[at]); ++count) {
            total += table_.turn - segments_[at].idle_since;
            at = segments_[at].newer;
        }
        mean = count ? total / count : 0;
        return count != 0;
    }

    std::uint64_t largest_gap() const noexcept
    {
        const std::uint64_t small = bins_[kSmall].largest(table_);
        const std::uint64_t large = bins_[kLarge].largest(table_);
        return small < large ? large : small;
    }

    // The block that the address lies in; 0: none.
    Index find_inside(Address address) const noexcept
    {
        const Index segment = by_order_.at_or_before(address);
        if (!segment || address - segments_[segment].address >= segments_[segment].bytes)
            return 0;
        Index at = segments_[segment].first;
        while (address - table_[at].address >= table_[at].bytes)
            at = table_[at].right;
        return at;
    }

    State state_of(const Block& block) const noexcept
    {
        return block.state == State::pending && epochs_.passed(block.mark) ? State::free
                                                                           : block.state;
    }
    SegmentView segment_of(const Block& block) const noexcept
    {
        const Segment& segment = segments_[block.group];
        return {segment.address, segment.bytes, segment.kind};
    }

    // Joins all that has passed.
    void pass() noexcept
    {
        while (pass_some(kSmall, kPassedInNeed) || pass_some(kLarge, kPassedInNeed))
            ;
    }

    void clear() noexcept
    {
        table_.clear();
        segments_.clear();
        by_order_.clear();
        bins_[kSmall] = bins_[kLarge] = {};
        pending_[kSmall] = pending_[kLarge] = held_ = {};
        idle_[kSmall] = idle_[kLarge] = {};
        for (auto& of_kind : last_freed_)
            of_kind = {};
        pending_bytes_[kSmall] = pending_bytes_[kLarge] = idle_bytes_ = 0;
    }

    const char* validate() const noexcept; // tests/interpose/pool/split_validate.hpp

private:
    // How many blocks a search joins. Nearly all of the large ones: where one is not joined yet, a
    // worse fit is cut.
    static constexpr int kPassedPerSmall = 4, kPassedPerLarge = 64, kPassedInNeed = 64;
    static constexpr unsigned kClassBits = 6;
    // What a request of at least max_split_bytes may get more than it asked for.
    static constexpr std::uint64_t kMostUnsplit = 20u << 20;

    struct Segment {
        Address address = 0;
        std::uint64_t bytes = 0;
        std::uint64_t idle_since = 0; // the search before its last block was freed
        Index first = 0;              // its block at the lowest address
        Index used = 0;               // blocks that are live, or held for a while
        Index left = 0, right = 0;    // its children in the tree of addresses
        Index older = 0, newer = 0;   // among those of its kind that have no used block
        Kind kind = kSmall;
    };
    struct Nodes {
        Slab<Segment>* segments;
        Address address(Index index) const noexcept { return (*segments)[index].address; }
        Index& left(Index index) const noexcept { return (*segments)[index].left; }
        Index& right(Index index) const noexcept { return (*segments)[index].right; }
    };
    struct Idle {
        Index head = 0, tail = 0; // the one that was idle for longest first
    };
    struct Counted { // what validate() counts
        std::uint64_t blocks = 0, segments = 0, reserved = 0, idle = 0, idle_bytes = 0;
        std::uint64_t by_state[5] = {}, bytes_by_state[5] = {};
        std::uint64_t requested = 0, inactive_split = 0, unlisted = 0;
    };
    const char* validate_segment(Index at, Counted& counted) const noexcept;
    const char* validate_block(Index at, Index segment, Counted& counted) const noexcept;
    const char* validate_lists(const Counted& counted) const noexcept;
    const char* validate_books(const Counted& counted) const noexcept;

    static bool is_split(const Block& block) noexcept { return block.left || block.right; }

    // What a block must be smaller than, to serve this request.
    std::uint64_t limit_for(std::uint64_t rounded) const noexcept
    {
        const std::uint64_t most = options_.max_split_bytes;
        return rounded < most ? most : rounded + kMostUnsplit;
    }
    bool serves(std::uint64_t bytes, std::uint64_t rounded) const noexcept
    {
        return bytes >= rounded && bytes < limit_for(rounded);
    }
    Index fit(std::uint64_t rounded) const noexcept
    {
        return bins_[kind_of(rounded)].fit(table_, rounded, limit_for(rounded));
    }

    bool worth_splitting(const Block& block, std::uint64_t rounded) const noexcept
    {
        const std::uint64_t rest = block.bytes - rounded;
        return block.kind == kSmall ? rest >= kLeastBlock
                                    : rounded < options_.max_split_bytes && rest > kSmallBytes;
    }

    void to_bins(Index index) noexcept
    {
        const Block& block = table_[index];
        bins_[block.kind].insert(table_, index);
        if (is_split(block)) {
            table_.books.inactive_split.add(block.kind, 1);
            table_.books.inactive_split_bytes.add(block.kind, block.bytes);
        }
    }
    void from_bins(Index index) noexcept
    {
        const Block& block = table_[index];
        bins_[block.kind].remove(table_, index);
        if (is_split(block)) {
            table_.books.inactive_split.subtract(block.kind, 1);
            table_.books.inactive_split_bytes.subtract(block.kind, block.bytes);
        }
    }

    Index hand_out(Index index, std::uint64_t rounded, std::uint64_t requested) noexcept;
    void cut(Index index, Index front, std::uint64_t rounded) noexcept;
    Index take_free(std::uint64_t rounded, std::uint64_t requested) noexcept;
    void make_pending(Index index, Block& block, std::uint64_t stamp) noexcept;
    void unlink_pending(Index index, const Block& block) noexcept
    {
        pending_[block.kind].remove(table_, index);
        pending_bytes_[block.kind] -= block.bytes;
    }
    Index passed_of_size(Kind kind, std::uint64_t rounded) noexcept;
    Index& last_freed(Kind kind, std::uint64_t bytes) noexcept
    {
        return last_freed_[kind][bytes * 0x9e3779b97f4a7c15u >> (64 - kClassBits)];
    }
    void remove_block(Index index) noexcept;
    bool pass_some(Kind kind, int most) noexcept;
    void pass_one(Index index) noexcept;
    Index absorb(Index index, Index neighbour) noexcept;

    void used(Block& block) noexcept;
    void unused(const Block& block) noexcept;
    bool has_passed(const Segment& segment) const noexcept;
    bool is_reusable(const Segment& segment) const noexcept;
    void now_idle(Index index) noexcept;
    void not_idle(Index index) noexcept;
    bool take_out_segment(Index index, Leaving& leaving) noexcept;
    void remove_segment(Index index) noexcept;

    const Epochs& epochs_;
    const Options& options_;
    const bool rounds_up_;
    BlockTable table_;
    Slab<Segment> segments_;
    AddressTree<Nodes> by_order_{Nodes{&segments_}};
    Bins bins_[2];
    Queue pending_[2], held_;
    std::array<Index, 1 << kClassBits> last_freed_[2] = {}; // for each class of sizes
    Idle idle_[2];
    std::uint64_t pending_bytes_[2] = {};
    std::uint64_t idle_bytes_ = 0;
};

} // namespace vramscope::pool

#include "interpose/pool/split_blocks.hpp"
