// interpose/serve/contexts/captures.hpp — the streams that are being captured now.
//
// While one is, the pool calls nothing of the driver and hands out nothing: whatever is allocated
// or freed goes to the driver, whose answer is the program's. Any thread.
#pragma once

#include <atomic>

#include "interpose/hooks/driver.hpp"

namespace vramscope::hooks {

extern constinit std::atomic<int> open_captures;

// A capture that may be open anywhere in the process.
inline bool capturing() noexcept
{
    return open_captures.load(std::memory_order_acquire) != 0;
}

// Nothing is kept, and nothing is asked of the driver.
inline bool passing_through() noexcept
{
    return capturing() || exiting();
}

// Before the driver's call: from now on nothing of ours runs that a capture cannot bear.
void capture_begins() noexcept;
void capture_refused() noexcept;
void capture_began(const Driver& driver, CUstream stream) noexcept;
// After a call that may have ended the capture of this stream.
void capture_may_have_ended(const Driver& driver, CUstream stream) noexcept;
// The stream itself is gone.
void capture_ended_with(CUstream stream) noexcept;
// The captures of its streams went with it.
void captures_gone_with(CUcontext context) noexcept;

// To be called in the child of a fork: what is known is the parent's.
void forget_captures() noexcept;

} // namespace vramscope::hooks
