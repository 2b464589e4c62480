// interpose/serve/contexts/contexts.cpp — a table under a lock, and one entry for each thread.
#include "interpose/serve/contexts/contexts.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/mempools.hpp"
#include "interpose/serve/contexts/synchronisation.hpp"
#include "tracker/capture/lock.hpp"

namespace vramscope::hooks {
namespace {

struct Context {
    CUcontext handle; // null: the slot is free
    std::uint64_t id;
    int device;
    bool primary;
    int attached; // cuCtxAttach minus cuCtxDetach
};

constexpr std::size_t kMaxContexts = 1024;
constexpr int kMaxDevices = 128;

constinit capture::Lock lock;
constinit Context contexts[kMaxContexts]{};
constinit std::uint64_t last_id = 0;
constinit std::uint32_t log_generation = 0; // contexts and devices noted so far are in this log
constinit bool device_noted[kMaxDevices]{};

struct Green {
    CUgreenCtx handle; // null: the slot is free
    CUdevice device;
};
constinit Green greens[256]{};

Green* find_green(CUgreenCtx handle) noexcept
{
    for (Green& green : greens)
        if (green.handle == handle)
            return &green;
    return nullptr;
}

// The child of a fork writes a log of its own, in which nothing is noted yet.
void start_afresh_in_new_log() noexcept
{
    const std::uint32_t before = std::exchange(log_generation, log::process->generation);
    if (before == 0 || before == log_generation) // before the first log, nothing was noted
        return;
    std::memset(contexts, 0, sizeof contexts);
    std::memset(device_noted, 0, sizeof device_noted);
    forget_synchronisations();
    forget_captures();
}

Context* find(CUcontext handle) noexcept
{
    for (Context& context : contexts)
        if (context.handle == handle)
            return &context;
    return nullptr;
}

// The entry of `handle`, made if need be: `added` is then its id. Null: the table is full.
Context* find_or_add(log::Thread& thread, CUcontext handle, int device, bool primary,
                     std::uint64_t& added) noexcept
{
    start_afresh_in_new_log();
    Context* context = find(handle);
    if (context || !(context = find(nullptr)))
        return context;
    *context = {handle, ++last_id, device, primary, 0};
    added = context->id;
    context_seen(handle);
    log::write(thread, format::Context{context->id, reinterpret_cast<std::uintptr_t>(handle),
                                       device, primary});
    return context;
}

// Without the table's lock, under which no stack is taken.
void write_opened(log::Thread& thread, const log::CallSite& site, std::uint64_t api,
                  std::uint64_t added, format::ContextOpened opened) noexcept
{
    if (!added)
        return;
    opened.api = api;
    opened.context = added;
    if (api == kNoApi) // the site may be of a call that is over
        log::write(thread, {log::now()}, opened);
    else
        log::write_with_stack(thread, site, api, opened);
}

void forget(log::Thread& thread, Hook hook, std::uint64_t ticks, std::uint32_t stack,
            Context& context) noexcept
{
    log::write(thread, {ticks, static_cast<std::uint64_t>(hook)},
               format::ContextGone{context.id, stack});
    context_unseen(context.handle);
    captures_gone_with(context.handle);
    if (const ForgetPools forget_them = forget_pools.load(std::memory_order_acquire))
        forget_them(context.id);
    context = {};
    context_changes.fetch_add(1, std::memory_order_release);
}

// As NVIDIA's tools write it: "GPU-" and 16 bytes in groups.
void note_uuid(log::Thread& thread, const Driver& driver, int device) noexcept
{
    CUuuid uuid{};
    if (!driver.device_uuid || driver.device_uuid(&uuid, device) != CUDA_SUCCESS)
        return;
    char text[48] = "GPU-";
    std::size_t used = 4;
    for (std::size_t at = 0; at < sizeof uuid.bytes; ++at) {
        const bool begins_group = at == 4 || at == 6 || at == 8 || at == 10;
        used += static_cast<std::size_t>(std::snprintf(text + used, sizeof text - used,
                                                       begins_group ? "-%02x" : "%02x",
                                                       static_cast<unsigned char>(uuid.bytes[at])));
    }
    char key[32];
    std::snprintf(key, sizeof key, "device.%d.uuid", device);
    log::write(thread, format::Info{key, text});
}

// The device's name and size go into the log once.
void note_device(log::Thread& thread, const Driver& driver, int device) noexcept
{
    if (device < 0 || device >= kMaxDevices)
        return;
    {
        const std::lock_guard guard(lock);
        start_afresh_in_new_log();
        if (device_noted[device])
            return;
        device_noted[device] = true;
    }
    char name[128] = {};
    std::size_t bytes = 0;
    if (driver.device_name)
        driver.device_name(name, sizeof name - 1, device);
    if (driver.device_bytes)
        driver.device_bytes(&bytes, device);
    log::write(thread, format::Device{static_cast<std::uint64_t>(device), bytes, name});
    note_uuid(thread, driver, device);
}

} // namespace

constinit std::atomic<ForgetPools> forget_pools{nullptr};
thread_local constinit RememberedContext remembered_context{};
constinit std::atomic<std::uint64_t> context_changes{1};

void look_up_context(log::Thread& thread, const Driver& driver, CUcontext handle,
                     std::uint64_t seen, std::uint64_t api) noexcept
{
    RememberedContext& remembered = remembered_context;
    remembered = {};
    // The device of a context that is not current cannot be asked for without changing
    // the current one.
    CUcontext current = nullptr;
    CUdevice device = -1;
    if (driver.context && driver.context(&current) == CUDA_SUCCESS && current == handle &&
        driver.context_device) {
        const CUresult result = driver.context_device(&device);
        if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_INVALID_CONTEXT)
            return; // it is current, and gone: the next of this handle is another
        if (result != CUDA_SUCCESS)
            device = -1;
    }
    std::uint64_t added = 0;
    {
        const std::lock_guard guard(lock);
        Context* context = find_or_add(thread, handle, device, false, added);
        if (!context)
            return;
        if (context->device < 0)
            context->device = device;
        remembered = {handle,          seen,   context->id, log::process->generation,
                      context->device, nullptr};
    }
    write_opened(thread, thread.site, api, added, opened_as(format::Opening::seen));
    note_device(thread, driver, remembered.device);
}

format::Place place_on(Call& call, int device) noexcept
{
    format::Place place = place_now(call);
    if (device == kNoDevice)
        return place;
    place.device = device;
    if (const Driver* driver = Driver::find(); driver && !exiting())
        note_device(call.thread, *driver, device);
    return place;
}

format::Place place_of_stream(Call& call, CUstream stream, CUmemoryPool pool) noexcept
{
    const Driver* driver = Driver::find();
    if (!driver || exiting())
        return {};
    const bool created = stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
    CUcontext context = nullptr;
    if (created && driver->stream_context)
        driver->stream_context(stream, &context);
    format::Place place = place_in(call.thread, *driver, context, call.api());
    place.stream = number(stream);
    place.pool = number(pool ? pool : current_mempool(place.device));
    if (const std::int64_t device = pool ? device_of_mempool(pool) : -1; device >= 0)
        place.device = device; // whatever the stream's is
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const bool may_capture = stream && stream != CU_STREAM_LEGACY; // the legacy stream cannot be
    if (may_capture && driver->is_capturing &&
        driver->is_capturing(stream, &status) == CUDA_SUCCESS)
        place.capturing = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return place;
}

bool knows_primary(CUdevice device) noexcept
{
    const std::lock_guard guard(lock);
    return std::any_of(std::begin(contexts), std::end(contexts), [&](const Context& context) {
        return context.handle && context.primary && context.device == device;
    });
}

void note_primary(Call& call, const Driver& driver, CUcontext context, CUdevice device,
                  format::ContextOpened opened) noexcept
{
    std::uint64_t added = 0;
    {
        const std::lock_guard guard(lock);
        if (Context* known = find_or_add(call.thread, context, device, true, added)) {
            known->primary = true;
            known->device = device;
        }
    }
    write_opened(call.thread, call.site, call.api(), added, opened);
    note_device(call.thread, driver, device);
}

format::Place place_of_new(Call& call, const Driver& driver, CUcontext handle, CUdevice device,
                           format::ContextOpened opened) noexcept
{
    format::Place place;
    place.device = device;
    std::uint64_t added = 0;
    {
        const std::lock_guard guard(lock);
        if (Context* before = find(handle)) // what ended it was not seen
            forget(call.thread, call.hook, log::now(), 0, *before);
        if (Context* context = find_or_add(call.thread, handle, device, false, added))
            place.context = context->id;
    }
    write_opened(call.thread, call.site, call.api(), added, opened);
    note_device(call.thread, driver, device);
    return place;
}

void green_created(CUgreenCtx handle, CUdevice device) noexcept
{
    const std::lock_guard guard(lock);
    Green* green = find_green(handle);
    if (green || (green = find_green(nullptr)))
        *green = {handle, device};
}

void green_named(Call& call, const Driver& driver, CUgreenCtx handle, CUcontext context) noexcept
{
    CUdevice device = -1;
    {
        const std::lock_guard guard(lock);
        if (const Green* green = handle ? find_green(handle) : nullptr)
            device = green->device;
    }
    if (device >= 0)
        note_primary(call, driver, context, device, opened_as(format::Opening::seen));
}

CUdevice green_gone(CUgreenCtx handle) noexcept
{
    const std::lock_guard guard(lock);
    Green* green = handle ? find_green(handle) : nullptr;
    return green ? std::exchange(*green, Green{nullptr, -1}).device : -1;
}

void attached(CUcontext context) noexcept
{
    const std::lock_guard guard(lock);
    if (Context* known = find(context))
        ++known->attached;
}

bool detached(CUcontext context) noexcept
{
    const std::lock_guard guard(lock);
    Context* known = find(context);
    return known && known->attached-- == 0;
}

void context_gone(Call& call, CUcontext context) noexcept
{
    const std::uint32_t stack = log::record_stack(call.thread, call.site);
    const std::lock_guard guard(lock);
    if (Context* known = context ? find(context) : nullptr)
        forget(call.thread, call.hook, call.ticks, stack, *known);
}

void primary_gone(Call& call, CUdevice device) noexcept
{
    const std::uint32_t stack = log::record_stack(call.thread, call.site);
    const std::lock_guard guard(lock);
    for (Context& context : contexts)
        if (context.handle && context.primary && context.device == device)
            forget(call.thread, call.hook, call.ticks, stack, context);
}

void primary_released(Call& call, CUdevice device) noexcept
{
    const Driver* driver = Driver::find();
    unsigned flags = 0;
    int active = 1;
    if (driver && driver->primary_state && !exiting() &&
        driver->primary_state(device, &flags, &active) == CUDA_SUCCESS && !active)
        primary_gone(call, device);
}

} // namespace vramscope::hooks
