// interpose/serve/pools/driver_upstream.hpp — the driver as the source of one context's pool.
//
// It is called with no lock held, on a thread that is inside a hook. Each segment is recorded in
// the log. `allocate` needs the context to be current; `release` makes it current.
#pragma once

#include "interpose/pool/upstream.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/pools/pool_lock.hpp"

namespace vramscope::hooks {

class DriverUpstream {
public:
    using Lock = PoolLock;
    static constexpr int kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;

    DriverUpstream(CUcontext context, const format::Place& place) noexcept
        : context_(context), place_(place)
    {
    }

    // After a failure `out` is what the driver left where the address was to be: a driver of today
    // writes a null pointer there.
    static constexpr pool::Address kUntouched = ~pool::Address{0};
    int allocate(std::uint64_t bytes, pool::Address& out) noexcept;
    int release(pool::Address address, pool::Release why) noexcept;
    int synchronise() noexcept;
    void make_room() noexcept;
    pool::Traffic traffic() noexcept;
    void pause(int tries) noexcept;

    CUcontext context() const noexcept { return context_; }
    const format::Place& place() const noexcept { return place_; }

private:
    CUcontext context_;
    format::Place place_;
};

} // namespace vramscope::hooks
