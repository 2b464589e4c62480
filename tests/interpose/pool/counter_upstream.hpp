// tests/interpose/pool/counter_upstream.hpp — a source of memory that only counts: addresses go up,
// what was given back may be given out again, and there is as much as `capacity` says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
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

    int allocate(std::uint64_t bytes, pool::Address& address)
    {
        const std::lock_guard guard(lock_);
        ++calls.allocate;
        if (bytes == 0)
            return kRefused;
        if (reserved_ + bytes > capacity)
            return kOutOfMemory;
        address = next_;
        next_ += (bytes + 511) / 512 * 512;
        out_[address] = bytes;
        reserved_ += bytes;
        return 0;
    }

    int release(pool::Address address, pool::Release why)
    {
        const std::lock_guard guard(lock_);
        ++calls.release;
        const auto at = out_.find(address);
        if (at == out_.end())
            return kRefused;
        reserved_ -= at->second;
        out_.erase(at);
        released.push_back({address, why});
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

    std::uint64_t reserved() const { return reserved_; }
    std::size_t segments() const { return out_.size(); }

    struct Released {
        pool::Address address;
        pool::Release why;
    };
    struct Calls {
        int allocate = 0, release = 0, synchronise = 0, make_room = 0;
    };
    Calls calls;
    std::uint64_t capacity = ~std::uint64_t{0} >> 1;
    std::vector<Released> released;
    std::function<void()> on_make_room;

private:
    pool::Epochs& epochs_;
    int domain_;
    std::mutex lock_;
    std::map<pool::Address, std::uint64_t> out_;
    pool::Address next_ = 0x7f0000000000;
    std::uint64_t reserved_ = 0;
};

static_assert(pool::Upstream<CounterUpstream>);

} // namespace vramscope::test
