// interpose/pool/pool.hpp — the pool of one context.
//
// Blocks are handed out again once that is safe, and memory is given back when it is short. Policy
// (CachePolicy or SplitPolicy) chooses the block; this class says in what order things are tried,
// and holds the lock. The lock is never held during a call of upstream. Nothing here throws or
// calls malloc; any thread may call. What upstream refuses to take back is forgotten: it is not
// there any more, or its context is broken.
#pragma once

#include <atomic>
#include <mutex>

#include "interpose/pool/block_table.hpp"
#include "interpose/pool/rounding.hpp"

namespace vramscope::pool {

struct Allocation {
    int status = 0; // what upstream answered
    Address address = 0;
    std::uint64_t block_bytes = 0;
    bool reused = false;  // no driver call was made for it
    bool retried = false; // memory was short at first
    bool pooled = false;  // false with status 0: the pool does not know this memory
};

// What a freed address was, and what became of its block.
enum class Freed : std::uint8_t {
    cached,  // kept: the driver need not know
    surplus, // kept, and now more is cached than max_cached_bytes: call settle()
    foreign, // not a block of this pool
    dead,    // in the pool, but free already: a double free
    leaves,  // gone from the pool now: the caller frees it upstream
    part,    // detach() of a part of a segment: live as before, upstream cannot free it alone
};

template <Upstream U, class Policy>
class Pool {
public:
    Pool(U& upstream, Epochs& epochs, const Options& options) noexcept
        : upstream_(upstream), epochs_(epochs), options_(options), spare_(spare(options)),
          policy_(epochs, options_)
    {
    }

    // From now on this is one of several pools of a context, which `first` begins: threads that
    // would wait for each other at one lock use several. What has passed in one serves the others,
    // before more is taken. `number` tells its serial numbers from those of the others. Before it
    // is used, one call at a time; it and the others live equally long. Not where there is a bound
    // on what is reserved.
    void share_with(Pool& first, unsigned number) noexcept
    {
        policy_.table().serial = std::uint64_t{number} << kSerialBits;
        first_ = &first;
        next_ = first.next_.load();
        first.next_.store(this);
    }

    // may_call false: nothing but, at most, one upstream.allocate.
    [[gnu::always_inline]] Allocation allocate(std::uint64_t bytes, bool may_call = true) noexcept
    {
        const Allocation hit = reuse(bytes);
        return hit.reused ? hit : allocate_anew(bytes, may_call);
    }

    // Hands out a block that has passed, and calls nobody. Not reused: there is none, and what is
    // left of allocate() is allocate_anew().
    [[gnu::always_inline]] Allocation reuse(std::uint64_t bytes) noexcept
    {
        if (bytes - 1 >= kMostBytes) [[unlikely]]
            return {};
        const std::uint64_t rounded = policy_.rounded(bytes);
        const Guard guard(lock_);
        const Index index = policy_.take(rounded, bytes);
        return index ? reused(index) : Allocation{};
    }
    [[gnu::noinline, gnu::cold]] Allocation allocate_anew(std::uint64_t bytes,
                                                          bool may_call = true) noexcept
    {
        if (bytes - 1 >= kMostBytes) // 0 too: upstream's to refuse
            return unpooled(bytes);
        const std::uint64_t rounded = policy_.rounded(bytes);
        return may_call ? miss(rounded, bytes)
                        : grow(rounded, bytes, policy_.segment_bytes(rounded));
    }

    // Constant time. A pinned block leaves: `left`, if given, gets what it was, for reattach().
    [[gnu::always_inline]] Freed free(Address address, Detached* left = nullptr) noexcept
    {
        policy_.table().by_address.prefetch(address); // to take the lock takes as long
        const Guard guard(lock_);
        const Index index = policy_.table().find(address);
        if (!index) [[unlikely]]
            return is_free_inside(address) ? Freed::dead : Freed::foreign;
        Block& block = policy_.table()[index];
        if (block.state != State::live) [[unlikely]]
            return Freed::dead;
        if (is_pinned(block)) [[unlikely]]
            return free_pinned(index, left);
        policy_.put(index, block, epochs_.stamp_free());
        return policy_.releasable_bytes() > most_cached() ? Freed::surplus : Freed::cached;
    }

    // Gives back what is beyond max_cached_bytes; what was free for longest goes first.
    void settle() noexcept;

    // Upstream does the free: a block leaves the pool if it is live and a whole segment.
    Freed detach(Address address, Detached& left) noexcept
    {
        const Guard guard(lock_);
        const Index index = policy_.table().find(address);
        if (!index)
            return Freed::foreign;
        if (policy_.table()[index].state != State::live)
            return Freed::dead;
        if (!policy_.is_whole(index))
            return Freed::part;
        take_away(index, left);
        return Freed::leaves;
    }
    // Takes the block back, as the driver refused to free it.
    void reattach(const Detached& left) noexcept
    {
        const Guard guard(lock_);
        const Index index =
            policy_.add_segment(left.address, left.bytes, left.bytes, left.requested);
        if (!index)
            return;
        ++not_reused_;
        policy_.table()[index].mark = left.serial;
        policy_.table()[index].pinned = left.pinned;
    }
    // The program got it from the driver, past the pool; it is a live segment from now on.
    bool adopt(Address address, std::uint64_t bytes) noexcept
    {
        if (bytes == 0)
            return false;
        drop_from_others(address, bytes);
        const Guard guard(lock_);
        if (!policy_.add_segment(address, bytes, bytes, bytes))
            return false;
        ++not_reused_;
        return true;
    }

    // From now on this live block is not kept at its free.
    bool pin(Address address) noexcept
    {
        const Guard guard(lock_);
        const Index index = policy_.table().find(address);
        if (!index || policy_.table()[index].state != State::live)
            return false;
        return policy_.table()[index].pinned = true;
    }
    // All blocks that are live now are pinned, until unpin_live().
    void pin_live() noexcept
    {
        const Guard guard(lock_);
        pinned_serial_ = policy_.table().serial;
    }
    void unpin_live() noexcept
    {
        const Guard guard(lock_);
        pinned_serial_ = 0;
        policy_.release_held(epochs_.stamp_free());
    }

    // Finds a block by its exact address.
    Lookup find(Address address) const noexcept
    {
        const Guard guard(lock_);
        return describe(policy_.table().find(address));
    }
    // Finds a block by any address inside it.
    Lookup find_inside(Address address) const noexcept
    {
        const Guard guard(lock_);
        return describe(policy_.find_inside(address));
    }

    // Gives back every segment that is wholly free and has passed, and returns how many bytes.
    std::uint64_t trim(Release why) noexcept { return release_aged(why, 0, kNoLimit); }

    Traffic traffic() const noexcept
    {
        const Guard guard(lock_);
        return {policy_.table().serial + crowded_ + device_frees_, moving_.load()};
    }

    // What trim() would give back after a synchronisation.
    std::uint64_t releasable_bytes() const noexcept
    {
        const Guard guard(lock_);
        return policy_.releasable_bytes();
    }
    std::uint64_t largest_gap() const noexcept
    {
        const Guard guard(lock_);
        return policy_.largest_gap();
    }

    // The context is gone, with its memory.
    void forget_all() noexcept
    {
        const Guard guard(lock_);
        policy_.clear();
        pinned_serial_ = 0;
    }

    Stats stats() noexcept
    {
        const Guard guard(lock_);
        policy_.pass();
        Stats stats;
        const Books& books = policy_.table().books;
        books.fill(stats);
        stats.num_alloc_retries = retries_;
        stats.num_ooms = ooms_;
        stats.num_sync_all_streams = synchronisations_;
        stats.num_device_alloc = device_allocations_;
        stats.num_device_free = device_frees_;
        stats.num_reused = books.allocations.allocated() - not_reused_;
        stats.num_refused_frees = refused_frees_;
        stats.max_split_size = options_.max_split_bytes;
        stats.releasable_bytes = policy_.releasable_bytes();
        return stats;
    }
    void reset_peaks() noexcept
    {
        const Guard guard(lock_);
        policy_.pass();
        policy_.table().books.reset_peaks();
    }

    // Null: all is as it must be. It looks at everything, and is for tests.
    const char* validate() const noexcept
    {
        const Guard guard(lock_);
        return policy_.validate();
    }

private:
    using Lock = typename U::Lock;
    using Guard = std::lock_guard<Lock>;

    Allocation reused(Index index) const noexcept
    {
        const Block& block = policy_.table()[index];
        return {
            .address = block.address, .block_bytes = block.bytes, .reused = true, .pooled = true};
    }

    [[gnu::noinline, gnu::cold]] Allocation unpooled(std::uint64_t bytes) noexcept
    {
        Allocation answer{.block_bytes = bytes};
        answer.status = upstream_.allocate(bytes, answer.address);
        return answer;
    }

    // pool_growth.hpp
    Allocation miss(std::uint64_t rounded, std::uint64_t requested) noexcept;
    template <class Visit>
    bool any_other(Visit visit) noexcept;
    bool take_from_others(std::uint64_t rounded, std::uint64_t requested,
                          Allocation& answer) noexcept;
    bool borrow(std::uint64_t rounded, std::uint64_t requested, Allocation& answer) noexcept;
    void drop_from_others(Address address, std::uint64_t bytes) noexcept;
    bool could_wait(std::uint64_t rounded) noexcept;
    bool wait_and_take(std::uint64_t rounded, std::uint64_t requested, Allocation& answer) noexcept;
    Allocation grow(std::uint64_t rounded, std::uint64_t requested, std::uint64_t segment) noexcept;
    void press(std::uint64_t rounded, std::uint64_t requested, Allocation& answer) noexcept;
    void collect_garbage() noexcept;
    std::uint64_t release_aged(Release why, std::uint64_t least_age, std::uint64_t wanted) noexcept;
    bool release(const Leaving& leaving, Release why) noexcept;

    std::uint64_t most_cached() const noexcept
    {
        return options_.max_cached_bytes == kUpToPeak
                   ? policy_.table().books.most_allocated_bytes + spare_
                   : options_.max_cached_bytes;
    }
    static std::uint64_t spare(const Options& options) noexcept
    {
        const std::uint64_t wait = options.wait_from_bytes;
        return wait > kLeastSpare / 2 && wait != kNoLimit ? 2 * wait : kLeastSpare;
    }

    bool is_pinned(const Block& block) const noexcept
    {
        return block.pinned || block.mark <= pinned_serial_;
    }

    [[gnu::noinline, gnu::cold]] Freed free_pinned(Index index, Detached* left) noexcept
    {
        if (!policy_.is_whole(index)) {
            policy_.hold(index, epochs_.stamp_free());
            return Freed::cached;
        }
        Detached unwanted;
        take_away(index, left ? *left : unwanted);
        return Freed::leaves;
    }

    void take_away(Index index, Detached& left) noexcept
    {
        const Block& block = policy_.table()[index];
        left = {block.address, block.bytes, block.requested, block.mark, block.pinned};
        policy_.remove(index);
    }

    // Not a block's address, but it lies in one that is free: it was one before blocks were joined.
    [[gnu::noinline, gnu::cold]] bool is_free_inside(Address address) const noexcept
    {
        const Index index = policy_.find_inside(address);
        return index && policy_.table()[index].state != State::live;
    }

    Lookup describe(Index index) const noexcept
    {
        return index ? describe(policy_.table()[index]) : Lookup{};
    }
    Lookup describe(const Block& block) const noexcept
    {
        const bool live = block.state == State::live;
        const SegmentView segment = policy_.segment_of(block);
        return {.state = policy_.state_of(block),
                .address = block.address,
                .bytes = block.bytes,
                .requested = live ? block.requested : 0,
                .segment_address = segment.address,
                .segment_bytes = segment.bytes,
                .serial = live ? block.mark : 0,
                .pinned = live ? is_pinned(block) : block.pinned};
    }

    static constexpr unsigned kSerialBits = 36;

    U& upstream_;
    Epochs& epochs_;
    const Options options_;
    const std::uint64_t spare_; // what kUpToPeak keeps beyond the peak
    mutable Lock lock_;
    Policy policy_;
    Pool* first_ = this; // the pools of this context, in a list
    std::atomic<Pool*> next_{nullptr};
    std::uint64_t growing_ = 0; // bytes asked of upstream at this moment
    std::uint64_t crowded_ = 0; // refused while others were asking
    std::atomic<unsigned> moving_{0};
    std::uint64_t pinned_serial_ = 0;
    std::uint64_t not_reused_ = 0, retries_ = 0, ooms_ = 0, synchronisations_ = 0;
    std::uint64_t device_allocations_ = 0, device_frees_ = 0, refused_frees_ = 0;
};

} // namespace vramscope::pool

#include "interpose/pool/pool_growth.hpp"
