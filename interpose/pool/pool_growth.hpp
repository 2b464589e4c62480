// interpose/pool/pool_growth.hpp — Pool where no block is ready.
//
// It waits, takes more, and gives back. Nothing here is hot; upstream is called with no lock held.
#pragma once

#include "interpose/pool/pool.hpp"

namespace vramscope::pool {

// Waits for what is pending, or takes more, or makes room and takes more.
template <Upstream U, class Policy>
[[gnu::noinline, gnu::cold]] Allocation Pool<U, Policy>::miss(std::uint64_t rounded,
                                                              std::uint64_t requested) noexcept
{
    Allocation answer;
    if (take_from_others(rounded, requested, answer))
        return answer;
    if (could_wait(rounded) && wait_and_take(rounded, requested, answer))
        return answer;
    collect_garbage();
    answer = grow(rounded, requested, policy_.segment_bytes(rounded));
    if (answer.status != U::kOutOfMemory)
        return answer;
    Traffic seen = upstream_.traffic();
    press(rounded, requested, answer);
    for (int tries = 1; answer.status == U::kOutOfMemory && tries < kMostTries; ++tries) {
        if (!was_disturbed(seen, upstream_.traffic()))
            break;
        upstream_.pause(tries);
        press(rounded, requested, answer);
    }
    answer.retried = true;
    const Guard guard(lock_);
    ++retries_;
    if (answer.status == U::kOutOfMemory)
        ++ooms_;
    return answer;
}

// Memory is short: takes what others have, or gives back all that is free and asks once more.
template <Upstream U, class Policy>
void Pool<U, Policy>::press(std::uint64_t rounded, std::uint64_t requested,
                            Allocation& answer) noexcept
{
    if (wait_and_take(rounded, requested, answer) || borrow(rounded, requested, answer))
        return;
    trim(Release::pressure);
    upstream_.make_room();
    const std::uint64_t segment = policy_.segment_bytes(rounded);
    answer = grow(rounded, requested, segment);
    const std::uint64_t least = policy_.least_segment_bytes(rounded);
    if (answer.status == U::kOutOfMemory && least < segment)
        answer = grow(rounded, requested, least); // without us it would ask for no more
}

// True once `visit`, called with each of the context's other pools, is. No lock is held.
template <Upstream U, class Policy>
template <class Visit>
bool Pool<U, Policy>::any_other(Visit visit) noexcept
{
    for (Pool* other = first_; other; other = other->next_.load(std::memory_order_acquire)) {
        if (other != this && visit(*other))
            return true;
    }
    return false;
}

// What has passed elsewhere serves this request: its segment moves here, if it has no other use.
template <Upstream U, class Policy>
bool Pool<U, Policy>::take_from_others(std::uint64_t rounded, std::uint64_t requested,
                                       Allocation& answer) noexcept
{
    const Moving moving(moving_);
    Leaving segment;
    const bool moved = any_other([&](Pool& other) {
        const Guard guard(other.lock_);
        return other.policy_.move_out(rounded, segment);
    });
    if (!moved)
        return Policy::borrows(rounded) && borrow(rounded, requested, answer);
    {
        const Guard guard(lock_);
        if (const Index index =
                policy_.add_segment(segment.address, segment.bytes, rounded, requested)) {
            answer = reused(index);
            return true;
        }
    }
    release(segment, Release::surplus); // no room for it in the tables
    return false;
}

// A block of another pool, which remains that pool's.
template <Upstream U, class Policy>
bool Pool<U, Policy>::borrow(std::uint64_t rounded, std::uint64_t requested,
                             Allocation& answer) noexcept
{
    return any_other([&](Pool& other) {
        const Guard guard(other.lock_);
        const Index index = other.policy_.take(rounded, requested);
        if (index)
            answer = other.reused(index);
        return index != 0;
    });
}

// Upstream gave this memory out again: what others know there is gone.
template <Upstream U, class Policy>
void Pool<U, Policy>::drop_from_others(Address address, std::uint64_t bytes) noexcept
{
    any_other([&](Pool& other) {
        const Guard guard(other.lock_);
        other.policy_.drop_overlaps(address, bytes);
        return false;
    });
}

template <Upstream U, class Policy>
bool Pool<U, Policy>::could_wait(std::uint64_t rounded) noexcept
{
    const auto pays = [&](Pool& pool) {
        const Guard guard(pool.lock_);
        return pool.policy_.worth_waiting(rounded);
    };
    return pays(*this) || any_other(pays);
}

template <Upstream U, class Policy>
bool Pool<U, Policy>::wait_and_take(std::uint64_t rounded, std::uint64_t requested,
                                    Allocation& answer) noexcept
{
    const bool waited = upstream_.synchronise() == 0;
    {
        const Guard guard(lock_);
        synchronisations_ += waited;
        if (const Index index = waited ? policy_.take(rounded, requested) : 0) {
            answer = reused(index);
            return true;
        }
    }
    return waited && take_from_others(rounded, requested, answer);
}

// A new segment, and the block in it.
template <Upstream U, class Policy>
[[gnu::noinline, gnu::cold]] Allocation Pool<U, Policy>::grow(std::uint64_t rounded,
                                                              std::uint64_t requested,
                                                              std::uint64_t segment) noexcept
{
    const Moving moving(moving_);
    Allocation answer{.block_bytes = segment};
    {
        const Guard guard(lock_);
        const std::uint64_t reserved = policy_.table().books.reserved_bytes.current() + growing_;
        if (segment > options_.allowed_bytes || reserved > options_.allowed_bytes - segment) {
            crowded_ += growing_ != 0;
            answer.status = U::kOutOfMemory;
            return answer;
        }
        growing_ += segment;
    }
    answer.status = upstream_.allocate(segment, answer.address);
    if (answer.status == 0)
        drop_from_others(answer.address, segment);
    const Guard guard(lock_);
    growing_ -= segment;
    if (answer.status != 0)
        return answer;
    ++device_allocations_;
    if (const Index index = policy_.add_segment(answer.address, segment, rounded, requested)) {
        ++not_reused_;
        answer.block_bytes = policy_.table()[index].bytes;
        answer.pooled = true;
    }
    return answer;
}

// Before more is taken: beyond the threshold, what was unused for longer than most goes back.
template <Upstream U, class Policy>
void Pool<U, Policy>::collect_garbage() noexcept
{
    const double threshold = options_.garbage_collection_threshold;
    if (threshold <= 0 || options_.allowed_bytes == kNoLimit)
        return;
    const auto most =
        static_cast<std::uint64_t>(threshold * static_cast<double>(options_.allowed_bytes));
    for (;;) {
        std::uint64_t reserved, age;
        {
            const Guard guard(lock_);
            reserved = policy_.table().books.reserved_bytes.current();
            if (reserved <= most || !policy_.mean_age(age))
                return;
        }
        if (release_aged(Release::collected, age, reserved - most) == 0)
            return;
    }
}

template <Upstream U, class Policy>
void Pool<U, Policy>::settle() noexcept
{
    const Moving moving(moving_);
    for (;;) {
        Leaving leaving;
        {
            const Guard guard(lock_);
            if (policy_.releasable_bytes() <= most_cached() || !policy_.take_out_oldest(leaving))
                return;
            ++device_frees_;
        }
        release(leaving, Release::surplus);
    }
}

template <Upstream U, class Policy>
std::uint64_t Pool<U, Policy>::release_aged(Release why, std::uint64_t least_age,
                                            std::uint64_t wanted) noexcept
{
    const Moving moving(moving_);
    std::uint64_t released = 0;
    Index cursor = Policy::kFirst;
    while (released < wanted) {
        Leaving leaving;
        {
            const Guard guard(lock_);
            if (!policy_.take_out(cursor, least_age, leaving))
                break;
            ++device_frees_;
        }
        if (release(leaving, why))
            released += leaving.bytes;
    }
    return released;
}

template <Upstream U, class Policy>
bool Pool<U, Policy>::release(const Leaving& leaving, Release why) noexcept
{
    if (upstream_.release(leaving.address, why) == 0)
        return true;
    const Guard guard(lock_);
    ++refused_frees_;
    return false;
}

} // namespace vramscope::pool
