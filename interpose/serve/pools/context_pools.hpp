// interpose/serve/pools/context_pools.hpp — the process's pools, one or a few for each context.
//
// A pool is made when its context first allocates, and forgotten with it. Threads that wait for
// each other at its lock get others, which share its memory. Any thread may call, inside a hook.
// The child of a fork has none of its parent's pools.
#pragma once

#include <iterator>

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "interpose/serve/contexts/pooling.hpp"
#include "interpose/serve/pools/driver_upstream.hpp"
#include "tracker/environment/settings.hpp"

namespace vramscope::hooks {

// One context's pool, of the kind that VRAMSCOPE_POOL chose. Its memory is never unmapped: a thread
// may look at one whose context was just destroyed.
class ContextPool {
public:
    using Cache = pool::Pool<DriverUpstream, pool::CachePolicy>;
    using Split = pool::Pool<DriverUpstream, pool::SplitPolicy>;

    ContextPool(const log::Settings& settings, CUcontext context, const format::Place& place,
                pool::Epochs& epochs, const pool::Options& options) noexcept
        : split_(settings.pool_mode == log::PoolMode::split),
          careful_(settings.pool_strict || settings.guard || settings.poison >= 0),
          margin_(settings.guard ? format::kRedZoneBytes : 0), upstream_(context, place)
    {
        if (split_)
            new (&split_pool_) Split(upstream_, epochs, options);
        else
            new (&cache_pool_) Cache(upstream_, epochs, options);
    }
    ~ContextPool() {} // its memory stays: see above
    ContextPool(const ContextPool&) = delete;
    ContextPool& operator=(const ContextPool&) = delete;

    const DriverUpstream& upstream() const noexcept { return upstream_; }
    const format::Place& place() const noexcept { return upstream_.place(); }
    std::int64_t device() const noexcept { return place().device; }
    // Whether more is to be done than to take a block and to give it back.
    bool careful() const noexcept { return careful_; }
    std::uint64_t margin() const noexcept { return margin_; } // red_zone_bytes(), of every block

    // It becomes one of several of its context, of which `first` was the first.
    void share_with(ContextPool& first, unsigned number) noexcept
    {
        if (split_)
            split_pool_.share_with(first.split_pool_, number);
        else
            cache_pool_.share_with(first.cache_pool_, number);
    }

    // Calls `visit` with the pool.
    template <class Visit>
    [[gnu::always_inline]] auto with(Visit visit) noexcept
    {
        return split_ ? visit(split_pool_) : visit(cache_pool_);
    }

private:
    const bool split_, careful_;
    const std::uint64_t margin_;
    DriverUpstream upstream_;
    union {
        Cache cache_pool_;
        Split split_pool_;
    };
};

// How many pools a context has at most: more than one only where nothing bounds what it reserves.
unsigned most_pools_of_context() noexcept;
// The pool of the current context with this number, made if need be; null: there are too many.
ContextPool* pool_of(const format::Place& place, unsigned number) noexcept;

// The pool at or after `at`, which moves past it; null: there are no more.
ContextPool* next_pool(std::size_t& at) noexcept;
// Every pool of this process, for a loop. Another thread may add one meanwhile.
class ContextPools {
public:
    ContextPools begin() const noexcept { return {}; }
    std::default_sentinel_t end() const noexcept { return {}; }
    ContextPool& operator*() const noexcept { return *pool_; }
    void operator++() noexcept { pool_ = next_pool(at_); }
    bool operator==(std::default_sentinel_t) const noexcept { return !pool_; }

private:
    std::size_t at_ = 0;
    ContextPool* pool_ = next_pool(at_);
};

// A graph that can be launched may hold any address that is live now.
void graph_may_hold_memory() noexcept;
void executable_made() noexcept;
void executable_gone() noexcept;

// To be called when a call of this thread was left by a jump. If that was in the middle of a change
// of a pool, pools are used no more.
void leave_pool_lock() noexcept;

} // namespace vramscope::hooks
