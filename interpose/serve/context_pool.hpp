// interpose/serve/context_pool.hpp — one context's pool, of the kind that VRAMSCOPE_POOL chose.
//
// Its memory is never unmapped: a thread may look at one whose context was just destroyed.
#pragma once

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "interpose/serve/driver_upstream.hpp"

namespace vramscope::hooks {

class ContextPool {
public:
    using Cache = pool::Pool<DriverUpstream, pool::CachePolicy>;
    using Split = pool::Pool<DriverUpstream, pool::SplitPolicy>;

    ContextPool(bool split, CUcontext context, const format::Place& place, pool::Epochs& epochs,
                const pool::Options& options) noexcept
        : split_(split), upstream_(context, place)
    {
        if (split)
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

    // Calls `visit` with the pool.
    template <class Visit>
    auto with(Visit visit) noexcept
    {
        return split_ ? visit(split_pool_) : visit(cache_pool_);
    }

private:
    const bool split_;
    DriverUpstream upstream_;
    union {
        Cache cache_pool_;
        Split split_pool_;
    };
};

} // namespace vramscope::hooks
