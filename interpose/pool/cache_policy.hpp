// interpose/pool/cache_policy.hpp — whole segments, kept by their exact size.
//
// They are never split: every block is what upstream gave out. Guarded by the pool's lock; calls
// nothing outside. A size has one list of freed blocks in the order of their frees: what has passed
// is its first part. The last of that part is handed out, so that hits stay in the caches and what
// a size has too much of grows old.
#pragma once

#include <array>

#include "interpose/pool/address_tree.hpp"
#include "interpose/pool/block_table.hpp"
#include "interpose/pool/oldest_lists.hpp"
#include "interpose/pool/pending_sums.hpp"
#include "interpose/pool/rounding.hpp"

namespace vramscope::pool {

class CachePolicy {
public:
    CachePolicy(const Epochs& epochs, const Options& options) noexcept
        : epochs_(epochs), options_(options), rounds_up_(options.rounds_up())
    {
        table_.books.least_oversize = options.max_split_bytes;
    }

    BlockTable& table() noexcept { return table_; }
    const BlockTable& table() const noexcept { return table_; }

    std::uint64_t rounded(std::uint64_t bytes) const noexcept
    {
        if (!rounds_up_)
            return bytes;
        const unsigned divisions = divisions_for(options_, bytes);
        return divisions > 1 && bytes > kLeastBlock * divisions
                   ? round_to_division(bytes, divisions)
                   : bytes;
    }
    std::uint64_t segment_bytes(std::uint64_t rounded) const noexcept { return rounded; }
    std::uint64_t least_segment_bytes(std::uint64_t rounded) const noexcept { return rounded; }

    // Returns a block that has passed, live now; 0: there is none.
    [[gnu::always_inline]] Index take(std::uint64_t rounded, std::uint64_t requested) noexcept
    {
        ++table_.turn;
        const std::uint64_t safe = epochs_.safe();
        if (pending_.any_passed(safe)) [[unlikely]]
            pass(safe);
        const Index number = recent_group_of(rounded);
        if (!number)
            return 0;
        Group& group = groups_[number];
        const Index index = ready(group, safe);
        if (!index)
            return 0;
        Block& block = table_[index];
        unlink(index, block, group);
        table_.make_live(block, requested);
        return index;
    }

    // True if something pending could serve, and so much is pending that waiting pays.
    bool worth_waiting(std::uint64_t rounded) const noexcept
    {
        const Index group = group_of(rounded);
        Index at = group ? groups_[group].head : 0;
        if (!at || table_.books.pending_bytes() >= options_.pending_worth_waiting())
            return at != 0;
        for (int enough = kWaitFromBlocks - 1; at && enough > 0; --enough)
            at = table_[at].next;
        return at != 0;
    }

    // The new segment's block, live; 0: no room for it in the tables.
    Index add_segment(Address address, std::uint64_t bytes, std::uint64_t,
                      std::uint64_t requested) noexcept
    {
        drop_overlaps(address, bytes);
        const Index index = address && table_.by_address.make_room() ? table_.blocks.add() : 0;
        const Index group = index ? group_for(bytes) : 0;
        if (!group) {
            if (index)
                table_.blocks.remove(index);
            return 0;
        }
        ++groups_[group].blocks;
        Block& block = table_[index];
        block = {.address = address, .bytes = bytes, .group = group, .kind = kind_of(bytes)};
        table_.by_address.insert(address, index);
        by_order_.insert(index);
        table_.books.taken(block.kind, bytes);
        table_.make_live(block, requested);
        return index;
    }

    bool is_whole(Index) const noexcept { return true; }
    // Only parts of segments are held, and here each block is a whole one.
    void hold(Index, std::uint64_t) noexcept {}
    void release_held(std::uint64_t) noexcept {}

    [[gnu::always_inline]] void put(Index index, Block& block, std::uint64_t stamp) noexcept
    {
        table_.books.freed(block);
        block.state = State::pending;
        block.mark = stamp;
        block.turn = table_.turn;
        pending_.add(stamp, block.kind, block.bytes);
        Group& group = groups_[block.group];
        block.next = 0;
        block.previous = group.tail;
        (group.tail ? table_[group.tail].next : group.head) = index;
        group.tail = index;
    }

    // Takes it out of the pool, whatever its state.
    void remove(Index index) noexcept
    {
        Block& block = table_[index];
        if (block.state == State::live) {
            table_.books.freed(block);
            table_.books.passed(block.kind, 1, block.bytes);
        } else {
            unlink(index, block, groups_[block.group]);
        }
        table_.books.left(block.kind, block.bytes);
        table_.by_address.erase(block.address, index);
        by_order_.erase(index);
        if (Group& group = groups_[block.group]; --group.blocks == 0) {
            by_bytes_.erase(group.bytes, block.group);
            group.bytes = 0;
            groups_.remove(block.group);
        }
        table_.blocks.remove(index);
    }

    // Takes out a block that has passed, which another pool wants.
    bool move_out(std::uint64_t rounded, Leaving& leaving) noexcept
    {
        pass();
        const Index group = group_of(rounded);
        const Index index = group ? ready(groups_[group], epochs_.safe()) : 0;
        if (!index)
            return false;
        const Kind kind = table_[index].kind;
        take_out_block(index, leaving);
        table_.books.disown(kind, leaving.bytes);
        return true;
    }

    static constexpr bool borrows(std::uint64_t) noexcept { return false; } // all can move

    // Upstream gave this memory out again, so what we knew there was freed without our knowledge.
    void drop_overlaps(Address address, std::uint64_t bytes) noexcept
    {
        for (;;) {
            const Index index = by_order_.at_or_before(address + bytes - 1);
            if (!index || table_[index].address + table_[index].bytes <= address)
                return;
            remove(index);
        }
    }

    std::uint64_t releasable_bytes() const noexcept
    {
        const Books& books = table_.books;
        return books.reserved_bytes.current() - books.allocated_bytes.current();
    }

    // Takes out a segment that has passed and that no search has used for `least_age` searches.
    bool take_out(Index& cursor, std::uint64_t least_age, Leaving& leaving) noexcept
    {
        for (; cursor < groups_.end(); ++cursor) {
            const Group* const group = used_group(cursor);
            if (!group || !group->head)
                continue;
            const Block& oldest = table_[group->head];
            if (epochs_.passed(oldest.mark) && table_.turn - oldest.turn >= least_age)
                return take_out_block(group->head, leaving);
        }
        return false;
    }
    static constexpr Index kFirst = 1; // where a cursor starts

    // Takes out the segment that was free for longest, passed or not: upstream waits for it then.
    bool take_out_oldest(Leaving& leaving) noexcept
    {
        const auto turn_of_head = [this](Index group) {
            const Index head = groups_[group].head; // an unused group has none
            return head ? table_[head].turn : OldestLists::kEmpty;
        };
        const Index group = oldest_.find(kFirst, groups_.end(), turn_of_head);
        return group && take_out_block(groups_[group].head, leaving);
    }

    // Mean age of what take_out() could take, in searches; false: there is nothing.
    bool mean_age(std::uint64_t& mean) const noexcept
    {
        std::uint64_t total = 0, count = 0;
        for (Index at = kFirst; at < groups_.end(); ++at) {
            const Group* const group = used_group(at);
            for (Index index = group ? group->head : 0; index && epochs_.passed(table_[index].mark);
                 index = table_[index].next) {
                total += table_.turn - table_[index].turn;
                ++count;
            }
        }
        mean = count ? total / count : 0;
        return count != 0;
    }

    std::uint64_t largest_gap() const noexcept
    {
        std::uint64_t largest = 0;
        for (Index at = kFirst; at < groups_.end(); ++at) {
            const Group* const group = used_group(at);
            if (group && group->head && group->bytes > largest)
                largest = group->bytes;
        }
        return largest;
    }

    // The block that the address lies in; 0: none.
    Index find_inside(Address address) const noexcept
    {
        const Index index = by_order_.at_or_before(address);
        return index && address - table_[index].address < table_[index].bytes ? index : 0;
    }

    State state_of(const Block& block) const noexcept
    {
        return block.state == State::pending && epochs_.passed(block.mark) ? State::free
                                                                           : block.state;
    }
    SegmentView segment_of(const Block& block) const noexcept
    {
        return {block.address, block.bytes, block.kind};
    }

    // The part of it that has passed is not active any more.
    void pass() noexcept { pass(epochs_.safe()); }

    void clear() noexcept
    {
        table_.clear();
        groups_.clear();
        by_bytes_.clear();
        recent_ = {};
        oldest_.clear();
        by_order_.clear();
        pending_ = {};
    }

    const char* validate() const noexcept; // tests/interpose/pool/cache_validate.hpp

private:
    // Waiting pays once so many of one size are pending: to take more would be as many calls.
    static constexpr int kWaitFromBlocks = 32;
    static constexpr unsigned kRecentBits = 6;

    struct Counted { // what validate() counts
        std::uint64_t blocks = 0, live = 0, live_bytes = 0, requested = 0, reserved = 0;
        std::uint64_t pending_bytes = 0, queued = 0;
    };
    const char* validate_block(Index at, Counted& counted) const noexcept;
    const char* validate_group(Index at, Counted& counted) const noexcept;
    const char* validate_books(const Counted& counted) const noexcept;

    struct Group {
        std::uint64_t bytes = 0;
        Index head = 0, tail = 0; // freed blocks, the oldest first
        Index ready = 0;          // the last of them that is known to have passed
        Index blocks = 0;         // all of this size, live ones too
    };
    struct Nodes {
        BlockTable* table;
        Address address(Index index) const noexcept { return (*table)[index].address; }
        Index& left(Index index) const noexcept { return (*table)[index].left; }
        Index& right(Index index) const noexcept { return (*table)[index].right; }
    };

    // Numbers are used again: an unused one has no size.
    const Group* used_group(Index group) const noexcept
    {
        return group_of(groups_[group].bytes) == group ? &groups_[group] : nullptr;
    }

    [[gnu::noinline]] Index group_of(std::uint64_t bytes) const noexcept
    {
        return by_bytes_.find(bytes, [this](Index group) { return groups_[group].bytes; });
    }
    // Programs ask for few sizes again and again. What is remembered is looked at before it is
    // believed, as a group's number may be another size's by now.
    Index recent_group_of(std::uint64_t bytes) noexcept
    {
        Index& recent = recent_[bytes * 0x9e3779b97f4a7c15u >> (64 - kRecentBits)];
        if (!recent || groups_[recent].bytes != bytes) [[unlikely]]
            recent = group_of(bytes);
        return recent;
    }
    Index group_for(std::uint64_t bytes) noexcept
    {
        if (const Index group = group_of(bytes))
            return group;
        const Index group = by_bytes_.make_room() ? groups_.add() : 0;
        if (group) {
            groups_[group] = {.bytes = bytes};
            by_bytes_.insert(bytes, group);
        }
        return group;
    }

    // All of the list, or a few more than before; at least one if its head has passed.
    [[gnu::always_inline]] Index ready(Group& group, std::uint64_t safe) const noexcept
    {
        if (group.tail && table_[group.tail].mark <= safe) [[likely]]
            return group.ready = group.tail;
        return look_for_ready(group, safe);
    }
    [[gnu::noinline]] Index look_for_ready(Group& group, std::uint64_t safe) const noexcept
    {
        constexpr int kLooks = 4;
        Index next = group.ready ? table_[group.ready].next : group.head;
        for (int looks = kLooks; looks > 0 && next && table_[next].mark <= safe; --looks) {
            group.ready = next;
            next = table_[next].next;
        }
        return group.ready;
    }

    [[gnu::always_inline]] void unlink(Index index, const Block& block, Group& group) noexcept
    {
        if (group.ready == index)
            group.ready = block.previous;
        (block.previous ? table_[block.previous].next : group.head) = block.next;
        (block.next ? table_[block.next].previous : group.tail) = block.previous;
        if (pending_.counts(block.mark)) [[unlikely]]
            not_pending(block);
    }
    // It leaves before its sum has passed.
    [[gnu::noinline]] void not_pending(const Block& block) noexcept
    {
        pending_.subtract(block.mark, block.kind, block.bytes);
        table_.books.passed(block.kind, 1, block.bytes);
    }

    [[gnu::noinline]] void pass(std::uint64_t safe) noexcept
    {
        pending_.pass(safe, [this](Kind kind, std::uint64_t blocks, std::uint64_t bytes) {
            table_.books.passed(kind, blocks, bytes);
        });
    }

    bool take_out_block(Index index, Leaving& leaving) noexcept
    {
        leaving = {table_[index].address, table_[index].bytes};
        remove(index);
        return true;
    }

    const Epochs& epochs_;
    const Options& options_;
    const bool rounds_up_;
    BlockTable table_;
    Slab<Group> groups_;
    AddressMap by_bytes_;                          // the group of each size
    std::array<Index, 1 << kRecentBits> recent_{}; // groups of sizes that were asked for last
    OldestLists oldest_;                           // groups
    AddressTree<Nodes> by_order_{Nodes{&table_}};
    PendingSums pending_;
};

} // namespace vramscope::pool
