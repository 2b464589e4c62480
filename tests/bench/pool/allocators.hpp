// tests/bench/pool/allocators.hpp — our pool and its rivals, with one interface.
//
// All of them take their memory from the same source, which only counts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "tests/bench/pool/rivals/rmm_rules.hpp"
#include "tests/bench/pool/rivals/torch_rules.hpp"

namespace vramscope::bench {

class Counter {
public:
    using Lock = std::mutex;
    static constexpr int kOutOfMemory = 2;

    int allocate(std::uint64_t bytes, pool::Address& address)
    {
        const std::lock_guard guard(lock_);
        if (bytes > capacity || reserved_ > capacity - bytes)
            return kOutOfMemory;
        address = next_;
        next_ += pool::round_up(bytes, pool::kSegmentUnit);
        sizes_[address] = bytes;
        reserved_ += bytes;
        if (reserved_ > peak_)
            peak_ = reserved_;
        ++calls_;
        return 0;
    }
    int release(pool::Address address, pool::Release)
    {
        const std::lock_guard guard(lock_);
        const auto at = sizes_.find(address);
        reserved_ -= at->second;
        sizes_.erase(at);
        ++calls_;
        return 0;
    }
    int synchronise()
    {
        epochs.ended(domain_, epochs.begin());
        return 0;
    }
    void make_room() {}
    pool::Traffic traffic() { return {}; }
    void pause(int) {}

    std::uint64_t peak() const { return peak_; }
    std::uint64_t calls() const { return calls_; }

    pool::Epochs epochs;
    std::uint64_t capacity = ~std::uint64_t{0} >> 2;

private:
    int domain_ = epochs.add_domain();
    std::mutex lock_;
    std::unordered_map<pool::Address, std::uint64_t> sizes_;
    pool::Address next_ = 0x7f0000000000;
    std::uint64_t reserved_ = 0, peak_ = 0, calls_ = 0;
};

template <class Policy>
class Ours {
public:
    Ours(Counter& upstream, const pool::Options& options)
        : upstream_(upstream), pool_(upstream, upstream.epochs, options)
    {
    }
    pool::Address allocate(std::uint64_t bytes) { return pool_.allocate(bytes).address; }
    void free(pool::Address address)
    {
        if (pool_.free(address) == pool::Freed::surplus)
            pool_.settle();
    }
    void synchronise() { upstream_.synchronise(); }

private:
    Counter& upstream_;
    pool::Pool<Counter, Policy> pool_;
};

} // namespace vramscope::bench
