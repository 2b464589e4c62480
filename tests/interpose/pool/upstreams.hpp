// tests/interpose/pool/upstreams.hpp — made-up sources of memory, which know what they gave out.
//
// CounterUpstream: addresses go up, and there is as much as `capacity` says. FailingUpstream: the
// same, and one call of your choice fails. ScatteredUpstream: addresses are random, are used again,
// and now and then are still in use: freed without the pool's knowing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "interpose/pool/epochs.hpp"
#include "interpose/pool/upstream.hpp"

namespace vramscope::test {

class CounterUpstream {
public:
    using Lock = std::mutex;
    static constexpr int kOutOfMemory = 2;
    static constexpr int kRefused = 1;

    explicit CounterUpstream(pool::Epochs& epochs) : epochs_(epochs), domain_(epochs.add_domain())
    {
    }

    virtual ~CounterUpstream() = default;

    int allocate(std::uint64_t bytes, pool::Address& address)
    {
        if (on_allocate)
            on_allocate(bytes);
        const std::lock_guard guard(lock_);
        ++calls.allocate;
        if (bytes == 0)
            return kRefused;
        if (bytes > capacity || reserved_ > capacity - bytes)
            return kOutOfMemory;
        address = place(bytes);
        if (remember)
            give(address, bytes);
        return 0;
    }

    int release(pool::Address address, pool::Release why)
    {
        if (on_release)
            on_release();
        const std::lock_guard guard(lock_);
        ++calls.release;
        const auto at = out_.find(address);
        if (at == out_.end())
            return kRefused;
        released.push_back({address, at->second, why});
        take_back(at);
        return 0;
    }

    int synchronise()
    {
        ++calls.synchronise;
        const std::uint64_t t = epochs_.begin();
        epochs_.ended(domain_, t);
        return 0;
    }

    void make_room()
    {
        ++calls.make_room;
        if (on_make_room)
            on_make_room();
    }

    pool::Traffic traffic() { return on_traffic ? on_traffic() : pool::Traffic{}; }

    void pause(int)
    {
        ++calls.pause;
        if (on_pause)
            on_pause();
    }

    std::uint64_t reserved() const { return reserved_; }
    const std::map<pool::Address, std::uint64_t>& segments() const { return out_; }

    struct Released {
        pool::Address address;
        std::uint64_t bytes;
        pool::Release why;
    };
    struct Calls {
        int allocate = 0, release = 0, synchronise = 0, make_room = 0, pause = 0;
    };
    Calls calls;
    bool remember = true; // what it gave out, which needs memory
    std::uint64_t capacity = ~std::uint64_t{0} >> 1;
    std::vector<Released> released;
    std::function<void()> on_make_room, on_release, on_pause;
    std::function<void(std::uint64_t)> on_allocate;
    std::function<pool::Traffic()> on_traffic; // {} without it: no other thread is told of
    // A range that is no longer the pool's: given back, or given out again.
    std::function<void(pool::Address, std::uint64_t, bool again)> on_gone;

protected:
    using Out = std::map<pool::Address, std::uint64_t>;

    virtual pool::Address place(std::uint64_t bytes)
    {
        const pool::Address address = next_;
        next_ += (bytes + 511) / 512 * 512;
        return address;
    }
    void give(pool::Address address, std::uint64_t bytes)
    {
        for (auto at = overlapping(address, bytes); at != out_.end();
             at = overlapping(address, bytes))
            take_back(at, true);
        out_[address] = bytes;
        reserved_ += bytes;
    }
    void take_back(Out::iterator at, bool again = false)
    {
        if (on_gone)
            on_gone(at->first, at->second, again);
        reserved_ -= at->second;
        out_.erase(at);
    }
    Out::iterator overlapping(pool::Address address, std::uint64_t bytes)
    {
        auto at = out_.lower_bound(address + bytes);
        if (at == out_.begin())
            return out_.end();
        --at;
        return at->first + at->second > address ? at : out_.end();
    }

    Out out_;

private:
    pool::Epochs& epochs_;
    int domain_;
    std::mutex lock_;
    pool::Address next_ = 0x7f0000000000;
    std::uint64_t reserved_ = 0;
};

class FailingUpstream : public CounterUpstream {
public:
    using CounterUpstream::CounterUpstream;

    int allocate(std::uint64_t bytes, pool::Address& address)
    {
        return fails() ? failure : CounterUpstream::allocate(bytes, address);
    }
    int release(pool::Address address, pool::Release why)
    {
        if (!fails())
            return CounterUpstream::release(address, why);
        if (on_gone)
            on_gone(address, out_.at(address), false);
        return failure;
    }
    int synchronise() { return fails() ? failure : CounterUpstream::synchronise(); }

    int fail_at = 0; // the number of the call that fails; 0: none
    int made = 0;
    int failure = kRefused;

private:
    bool fails() { return ++made == fail_at; }
};

class ScatteredUpstream : public CounterUpstream {
public:
    using CounterUpstream::CounterUpstream;

    unsigned reissues_of_16 = 1; // how often what is still out is given out again

private:
    pool::Address place(std::uint64_t bytes) override
    {
        if (!out_.empty() && random_() % 16 < reissues_of_16) {
            auto at = out_.begin();
            std::advance(at, static_cast<std::ptrdiff_t>(random_() % out_.size()));
            return at->first + random_() % 3 * 512;
        }
        for (;;) {
            const pool::Address address = 0x10000000 + random_() % (std::uint64_t{1} << 26) * 512;
            if (overlapping(address, bytes) == out_.end())
                return address;
        }
    }

    std::mt19937_64 random_{7};
};

static_assert(pool::Upstream<CounterUpstream>);
static_assert(pool::Upstream<FailingUpstream>);
static_assert(pool::Upstream<ScatteredUpstream>);

} // namespace vramscope::test
