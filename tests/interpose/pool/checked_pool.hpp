// tests/interpose/pool/checked_pool.hpp — a pool that a model checks.
//
// The calls come from a stream of numbers. After each call the pool is compared with the model and
// validates itself. In the model live blocks do not overlap; what was freed is handed out only when
// every domain was synchronised since; what is given back holds no live block; sums are sums.
// Throws std::logic_error for whatever does not hold.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "interpose/pool/pool.hpp"
#include "tests/interpose/pool/cache_validate.hpp"
#include "tests/interpose/pool/split_validate.hpp"
#include "tests/interpose/pool/upstreams.hpp"

namespace vramscope::test {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

template <class U, class Policy>
class CheckedPool {
public:
    explicit CheckedPool(const pool::Options& options = {})
        : upstream(epochs), pool_(std::make_unique<Pool>(upstream, epochs, options))
    {
        upstream.on_gone = [this](pool::Address address, std::uint64_t bytes, bool again) {
            gone(address, bytes, again);
        };
    }

    // Makes one call. `next` gives numbers; any will do.
    template <class Next>
    void step(Next&& next)
    {
        const std::uint64_t call = next() % 32;
        if (call < 12)
            allocate(size_from(next()), call != 0);
        else if (call < 20 && !live_.empty())
            free(nth(next()));
        else if (call >= 20)
            rarer(call, next());
        check();
    }

    // At the end everything can be given back.
    void finish()
    {
        if (pins_)
            pin_live(1);
        while (!live_.empty())
            free(live_.begin());
        remove_domain();
        upstream.synchronise();
        pool_->trim(pool::Release::asked);
        check();
        demand(pool_->stats().reserved_bytes.all.current == 0, "something cannot be given back");
    }

    void check()
    {
        if (const char* wrong = pool_->validate())
            throw std::logic_error(wrong);
        if (++checks_ % 8 != 0)
            return;
        const pool::Stats stats = pool_->stats();
        std::uint64_t bytes = 0, requested = 0;
        for (const auto& [address, block] : live_) {
            bytes += block.bytes;
            requested += block.requested;
        }
        demand(stats.allocation.all.current == live_.size(), "allocations are miscounted");
        demand(stats.allocated_bytes.all.current == bytes, "allocated bytes are miscounted");
        demand(stats.requested_bytes.all.current == requested, "requested bytes are miscounted");
        demand(stats.reserved_bytes.all.current >= bytes, "more is allocated than reserved");
        demand(stats.releasable_bytes <= stats.reserved_bytes.all.current - bytes,
               "more is releasable than unused");
        demand(stats.allocated_bytes.all.peak >= bytes, "the peak is below what is there");
        if (const char* wrong = pool_->validate())
            throw std::logic_error(wrong);
    }

    pool::Epochs epochs;
    U upstream;

private:
    using Pool = pool::Pool<U, Policy>;
    struct Live {
        std::uint64_t bytes, requested, serial;
        bool pinned;
    };
    struct Range {
        std::uint64_t bytes, stamp;
        bool held; // until pins are gone
    };
    using At = typename std::map<pool::Address, Live>::iterator;

    static void demand(bool condition, const char* otherwise)
    {
        if (!condition)
            throw std::logic_error(otherwise);
    }

    static std::uint64_t size_from(std::uint64_t number)
    {
        static constexpr std::uint64_t kSizes[] = {
            1,       512,     513,      1000,     4096,     70'000,   1 << 20,    (1 << 20) + 1,
            2 << 20, 5 << 20, 10 << 20, 19 << 20, 20 << 20, 33 << 20, 40'000'000, 3'000'000};
        return kSizes[number % std::size(kSizes)] + number / std::size(kSizes) % 3 * 512;
    }
    At nth(std::uint64_t number)
    {
        return std::next(live_.begin(), static_cast<std::ptrdiff_t>(number % live_.size()));
    }

    void rarer(std::uint64_t call, std::uint64_t number)
    {
        switch (call) {
        case 20:
            return free_nonsense(number);
        case 21:
            return static_cast<void>(upstream.synchronise());
        case 22:
            return static_cast<void>(pool_->trim(pool::Release::asked));
        case 23:
            return adopt(size_from(number));
        case 24:
            return pin_live(number);
        case 25:
            return change_circumstances(number);
        case 26:
        case 27:
            return synchronise_later(number);
        default:
            if (!live_.empty())
                at_live(call, nth(number), number);
        }
    }
    void at_live(std::uint64_t call, At at, std::uint64_t number)
    {
        if (call == 28)
            detach(at, number);
        else if (call == 29)
            pin(at);
        else
            look_up(at, number);
    }

    void allocate(std::uint64_t bytes, bool may_call)
    {
        const pool::Allocation answer = pool_->allocate(bytes, may_call);
        if (answer.status != 0)
            return;
        demand(answer.block_bytes >= bytes, "a block is smaller than asked");
        handed_out(answer.address, answer.block_bytes, bytes);
    }

    void handed_out(pool::Address address, std::uint64_t bytes, std::uint64_t requested)
    {
        const auto behind = live_.lower_bound(address + bytes);
        if (behind != live_.begin()) {
            const auto& [start, block] = *std::prev(behind);
            demand(start + block.bytes <= address, "two live blocks overlap");
        }
        for (auto at = freed_.begin(); at != freed_.end(); ++at) {
            const auto& [start, range] = *at;
            if (start < address + bytes && address < start + range.bytes)
                demand(epochs.passed(range.stamp), "handed out before it had passed");
        }
        cut(address, bytes);
        const pool::Lookup found = pool_->find(address);
        demand(found.state == pool::State::live && found.bytes == bytes &&
                   found.requested == requested,
               "a live block is not found as it was allocated");
        demand(found.serial > serial_, "serial numbers do not go up");
        serial_ = found.serial;
        live_[address] = {bytes, requested, serial_, false};
        const auto within = std::prev(upstream.segments().upper_bound(address));
        demand(within->first + within->second >= address + bytes, "a block is outside of segments");
    }

    void free(At at)
    {
        const pool::Address address = at->first;
        const Live block = at->second;
        const bool pinned = block.pinned || (pins_ && block.serial <= pinned_serial_);
        const pool::Lookup found = pool_->find(address);
        demand(found.pinned == pinned, "a pin is not seen");
        const bool whole = found.segment_bytes == block.bytes;
        live_.erase(at);
        pool::Detached left{};
        switch (pool_->free(address, &left)) {
        case pool::Freed::surplus:
            demand(!pinned, "a pinned block was kept");
            freed_[address] = {block.bytes, epochs.now(), false};
            pool_->settle();
            break;
        case pool::Freed::cached:
            demand(!pinned || !whole, "a pinned block was kept");
            freed_[address] = {block.bytes, pinned ? kNever : epochs.now(),
                               pinned && !block.pinned};
            break;
        case pool::Freed::leaves:
            demand(pinned && whole && left.address == address && left.bytes == block.bytes,
                   "a block left that was not pinned");
            upstream.CounterUpstream::release(address, pool::Release::asked);
            break;
        default:
            throw std::logic_error("a live block could not be freed");
        }
    }

    void free_nonsense(std::uint64_t number)
    {
        pool::Address address = 0x1234560000 + number;
        if (number % 2 && !freed_.empty())
            address = std::next(freed_.begin(), static_cast<std::ptrdiff_t>(number % freed_.size()))
                          ->first;
        else if (number % 3 && !live_.empty())
            address = nth(number)->first + 256;
        if (live_.contains(address))
            return;
        const pool::State state = pool_->find_inside(address).state;
        const pool::Freed answer = pool_->free(address);
        const bool dead = state != pool::State::live && state != pool::State::foreign;
        demand(answer == (dead ? pool::Freed::dead : pool::Freed::foreign),
               "a pointer to no live block was freed");
    }

    // One that began before other calls and ends after them, in one domain or the other.
    void synchronise_later(std::uint64_t number)
    {
        if (number % 8 == 0)
            remove_domain();
        else if (number % 8 == 1 && other_domain_ < 0)
            other_domain_ = epochs.add_domain();
        else if (number % 2)
            begun_ = epochs.begin();
        else if (other_domain_ >= 0)
            epochs.ended(other_domain_, begun_);
    }
    void remove_domain()
    {
        epochs.remove_domain(other_domain_);
        other_domain_ = -1;
    }

    void detach(At at, std::uint64_t number)
    {
        const pool::Lookup found = pool_->find(at->first);
        pool::Detached left{};
        if (pool_->detach(at->first, left) != pool::Freed::leaves) {
            demand(found.segment_bytes != found.bytes, "a whole segment could not leave");
            return;
        }
        demand(left.address == at->first && left.bytes == at->second.bytes &&
                   left.requested == at->second.requested && left.serial == at->second.serial,
               "what left is not what was there");
        demand(pool_->find(at->first).state == pool::State::foreign, "what left is still there");
        if (number % 2) {
            pool_->reattach(left);
            return;
        }
        live_.erase(at);
        upstream.CounterUpstream::release(left.address, pool::Release::asked);
    }

    void adopt(std::uint64_t bytes)
    {
        pool::Address address = 0;
        if (upstream.CounterUpstream::allocate(bytes, address) != 0)
            return;
        demand(pool_->adopt(address, bytes), "could not be adopted");
        handed_out(address, bytes, bytes);
    }

    void pin(At at)
    {
        demand(pool_->pin(at->first), "a live block could not be pinned");
        at->second.pinned = true;
    }

    void pin_live(std::uint64_t number)
    {
        if (number % 2 == 0) {
            pool_->pin_live();
            pins_ = true;
            pinned_serial_ = serial_;
        } else {
            pool_->unpin_live();
            pins_ = false;
            for (auto& [address, range] : freed_) {
                if (range.held)
                    range.stamp = epochs.now();
                range.held = false;
            }
        }
    }

    void look_up(At at, std::uint64_t number)
    {
        const pool::Lookup found = pool_->find_inside(at->first + number % at->second.bytes);
        demand(found.address == at->first && found.state == pool::State::live,
               "a block is not found by an address inside of it");
        const pool::Lookup before = pool_->find_inside(at->first - 1);
        demand(before.address != at->first, "a block is found by an address outside of it");
    }

    void change_circumstances(std::uint64_t number)
    {
        if (number % 16 == 0) {
            pool_->forget_all();
            live_.clear();
            freed_.clear();
            pins_ = false;
            demand(pool_->stats().reserved_bytes.all.current == 0, "something was not forgotten");
        } else if (number % 16 < 3) {
            pool_->reset_peaks();
        } else {
            upstream.capacity = number % 2 ? kNever >> 1 : std::uint64_t{128} << 20;
        }
    }

    // The range is upstream's again: no part of it may be live, except what was freed
    // behind our back.
    void gone(pool::Address address, std::uint64_t bytes, bool again)
    {
        const auto behind = live_.lower_bound(address + bytes);
        for (auto at = behind; at != live_.begin();) {
            --at;
            if (at->first + at->second.bytes <= address)
                break;
            demand(again, "a segment with a live block was given back");
            at = live_.erase(at);
        }
        cut(address, bytes);
    }

    // The range is no longer free; the rest of the ranges that overlap it stays free.
    void cut(pool::Address address, std::uint64_t bytes)
    {
        std::map<pool::Address, Range> rest;
        for (const auto& [start, range] : freed_) {
            const pool::Address end = start + range.bytes;
            if (end <= address || start >= address + bytes) {
                rest[start] = range;
                continue;
            }
            if (start < address)
                rest[start] = {address - start, range.stamp, range.held};
            if (end > address + bytes)
                rest[address + bytes] = {end - address - bytes, range.stamp, range.held};
        }
        freed_ = std::move(rest);
    }

    std::unique_ptr<Pool> pool_;
    std::map<pool::Address, Live> live_;
    std::map<pool::Address, Range> freed_;
    std::uint64_t serial_ = 0, pinned_serial_ = 0, begun_ = 0, checks_ = 0;
    int other_domain_ = -1;
    bool pins_ = false;
};

} // namespace vramscope::test
