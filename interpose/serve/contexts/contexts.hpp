// interpose/serve/contexts/contexts.hpp — which context an allocation belongs to.
//
// Each has a number that is never used again: a CUcontext may come back as another context after it
// was destroyed, and the log needs to tell them apart. Contexts are learnt where they are first
// seen. The calling thread's last one is remembered, so that the usual case is a comparison. No
// driver call is made under the table's lock.
#pragma once

#include "interpose/hooks/call.hpp"
#include "interpose/hooks/driver.hpp"

namespace vramscope::hooks {

class ContextPool;

// The last context that a thread asked for.
struct RememberedContext {
    CUcontext handle;
    std::uint64_t changes;
    std::uint64_t id;
    std::uint32_t generation;
    int device;
    ContextPool* pool; // which this thread uses there; null: it was not asked for yet
};
extern thread_local constinit RememberedContext remembered_context;
// Changes with every context that goes: what threads remember is then looked up again.
extern constinit std::atomic<std::uint64_t> context_changes;
void look_up_context(log::Thread& thread, const Driver& driver, CUcontext handle,
                     std::uint64_t seen, std::uint64_t api) noexcept;
inline constexpr std::uint64_t kNoApi = UINT64_MAX; // there is no call of the program's

// Where an allocation that was just made belongs. Null: the thread's current context. `api`: of the
// call that asks, should the context be a new one.
[[gnu::always_inline]] inline format::Place place_in(log::Thread& thread, const Driver& driver,
                                                     CUcontext handle,
                                                     std::uint64_t api = kNoApi) noexcept
{
    format::Place place;
    if (!handle && (!driver.context || driver.context(&handle) != CUDA_SUCCESS || !handle))
        return place;
    const RememberedContext& remembered = remembered_context;
    const std::uint64_t seen = context_changes.load(std::memory_order_acquire);
    if (remembered.handle != handle || remembered.changes != seen ||
        remembered.generation != log::process->generation) [[unlikely]]
        look_up_context(thread, driver, handle, seen, api);
    if (remembered.handle == handle) {
        place.context = remembered.id;
        place.device = remembered.device;
    }
    return place;
}

// The calling thread's current context and its device.
[[gnu::always_inline]] inline format::Place place_now(Call& call) noexcept
{
    const Driver* driver = Driver::find();
    return driver && !exiting() ? place_in(call.thread, *driver, nullptr, call.api())
                                : format::Place{};
}
// On this device, whatever context is current; it is made known. kNoDevice: as place_now().
format::Place place_on(Call& call, int device) noexcept;
inline constexpr int kNoDevice = -1;
inline int device_of(const CUmemLocation& location) noexcept
{
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : kNoDevice;
}
// Where an allocation on this stream from this pool (null: its device's) belongs.
format::Place place_of_stream(Call& call, CUstream stream, CUmemoryPool pool) noexcept;

inline format::ContextOpened opened_as(format::Opening opening) noexcept
{
    format::ContextOpened opened;
    opened.opening = opening;
    return opened;
}

// Whether the device's primary context is one that is known.
bool knows_primary(CUdevice device) noexcept;
// `opened`: what is to be written of a context that was not known.
void note_primary(Call& call, const Driver& driver, CUcontext context, CUdevice device,
                  format::ContextOpened opened) noexcept;
// A context that the program just made: whatever had its handle before is gone.
format::Place place_of_new(Call& call, const Driver& driver, CUcontext context, CUdevice device,
                           format::ContextOpened opened) noexcept;
// A green context's memory is that of its device's primary context, and goes with it.
void green_created(CUgreenCtx green, CUdevice device) noexcept;
void green_named(Call& call, const Driver& driver, CUgreenCtx green, CUcontext context) noexcept;
// The device of the green context that is gone; -1: it is not known.
CUdevice green_gone(CUgreenCtx green) noexcept;
void attached(CUcontext context) noexcept;
// True if this detach was the last.
bool detached(CUcontext context) noexcept;

// Forgets the pools of a context that is gone. What makes the pools stands above us, and sets this
// before the first of them is used; null: there was none yet.
using ForgetPools = void (*)(std::uint64_t context) noexcept;
extern constinit std::atomic<ForgetPools> forget_pools;
// This call, whose ticks were taken before it, ended the context with all that it owned.
void context_gone(Call& call, CUcontext context) noexcept;
void primary_gone(Call& call, CUdevice device) noexcept;
// The last release of a primary context ends it; only the driver knows how many there were.
void primary_released(Call& call, CUdevice device) noexcept;

} // namespace vramscope::hooks
