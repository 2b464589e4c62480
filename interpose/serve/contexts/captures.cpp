// interpose/serve/contexts/captures.cpp — a small table under a lock, and a count that all read.
#include "interpose/serve/contexts/captures.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "interpose/serve/contexts/synchronisation.hpp"
#include "tracker/capture/lock.hpp"

namespace vramscope::hooks {
namespace {

struct Capture {
    bool open;
    CUstream stream; // the per-thread stream is a name that each thread has
    pid_t thread;    // the owner of a per-thread stream; otherwise 0
    CUcontext context;
};

constinit capture::Lock lock;
constinit Capture captures[256]{};

pid_t owner_of(CUstream stream) noexcept
{
    return stream == CU_STREAM_PER_THREAD ? ::gettid() : 0;
}

Capture* find(CUstream stream) noexcept
{
    const pid_t thread = owner_of(stream);
    for (Capture& capture : captures)
        if (capture.open && capture.stream == stream && capture.thread == thread)
            return &capture;
    return nullptr;
}

void close(Capture& capture) noexcept
{
    capture.open = false;
    capture_refused();
}

} // namespace

constinit std::atomic<int> open_captures{0};

void capture_begins() noexcept
{
    open_captures.fetch_add(1);
    hold_synchronisations();
}

void capture_refused() noexcept
{
    readmit_synchronisations();
    open_captures.fetch_sub(1);
}

// A capture that finds no room stays open for ever: the pool then stays out of the way,
// which is safe.
void capture_began(const Driver& driver, CUstream stream) noexcept
{
    CUcontext context = nullptr;
    if (driver.stream_context)
        driver.stream_context(stream, &context);
    const std::lock_guard guard(lock);
    if (Capture* before = find(stream)) // it ended unseen
        close(*before);
    for (Capture& capture : captures) {
        if (capture.open)
            continue;
        capture = {true, stream, owner_of(stream), context};
        return;
    }
}

void capture_may_have_ended(const Driver& driver, CUstream stream) noexcept
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (driver.is_capturing && driver.is_capturing(stream, &status) == CUDA_SUCCESS &&
        status == CU_STREAM_CAPTURE_STATUS_NONE)
        capture_ended_with(stream);
}

void capture_ended_with(CUstream stream) noexcept
{
    const std::lock_guard guard(lock);
    if (Capture* capture = find(stream))
        close(*capture);
}

void captures_gone_with(CUcontext context) noexcept
{
    const std::lock_guard guard(lock);
    for (Capture& capture : captures)
        if (capture.open && capture.context == context)
            close(capture);
}

void forget_captures() noexcept
{
    std::fill(std::begin(captures), std::end(captures), Capture{});
    open_captures.store(0);
}

} // namespace vramscope::hooks
