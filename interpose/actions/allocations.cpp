// interpose/actions/allocations.cpp — the parts of the actions that are longer than a line.
#include "interpose/actions/owners.hpp"

#include <cstdio>
#include <iterator>

#include "interpose/hooks/unknown_names.hpp"
#include "interpose/serve/device_memory.hpp"
#include "interpose/serve/limits.hpp"
#include "interpose/serve/shortage.hpp"
#include "tracker/capture/stack_table.hpp"
#include "tracker/log/settings.hpp"
#include "tracker/log/tell.hpp"

namespace vramscope::hooks {
namespace {

constexpr int kManagedPool = 2; // CU_MEM_ALLOCATION_TYPE_MANAGED, new in CUDA 13.0

void describe_driver(log::Thread& thread)
{
    const Driver* driver = Driver::find();
    if (!driver)
        return;
    log::record_info(thread, "driver.path", driver->path());
    log::record_info(thread, "driver.simulated", driver->simulated() ? "1" : "0");
    int version = 0;
    if (driver->driver_version && driver->driver_version(&version) == CUDA_SUCCESS) {
        char text[32];
        std::snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
        log::record_info(thread, "driver.version", text);
    }
    write_unknown_names(thread);
}

// The array and the place in it as one number; no address has the top bit.
std::uint64_t tile_key(const CUarrayMapInfo& tile) noexcept
{
    const auto key = [&tile](auto... place) {
        const std::uintptr_t words[] = {number(tile.resource.array),
                                        static_cast<std::uintptr_t>(tile.subresourceType),
                                        static_cast<std::uintptr_t>(place)...};
        return capture::hash_frames(words, std::size(words), 0) | std::uint64_t{1} << 63;
    };
    const auto& level = tile.subresource.sparseLevel;
    const auto& tail = tile.subresource.miptail;
    return tile.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL
               ? key(level.level, level.layer, level.offsetX, level.offsetY, level.offsetZ)
               : key(tail.layer, tail.offset);
}

} // namespace

const log::Opening kOpening{kApis, &describe_driver};

bool exiting()
{
    return log::process->header && log::process->header->exit_began_ticks;
}

namespace {

format::Alloc allocation(Call& call, std::uint64_t ticks, std::uint64_t address,
                         std::uint64_t bytes)
{
    format::Alloc event{};
    event.api = call.api();
    event.ticks = ticks;
    event.address = address;
    event.bytes = bytes;
    return event;
}

} // namespace

void record_alloc(Call& call, std::uint64_t address, std::uint64_t bytes,
                  const format::Place& place)
{
    const std::uint64_t ticks = call.ended ? call.ended : log::now();
    log::record_alloc(call.thread, allocation(call, ticks, address, bytes), place, call.site);
    allocated_by_driver(call, place, ticks);
}

void record_pooled(Call& call, std::uint64_t address, std::uint64_t bytes,
                   const format::Place& place, std::uint64_t slack)
{
    // Not the driver call's time: its segment's record came after that.
    format::Alloc event = allocation(call, log::now(), address, bytes);
    event.pooled = true;
    event.slack = slack;
    log::record_alloc(call.thread, event, place, call.site);
}

bool fits(const Call& call, std::uint64_t bytes)
{
    // Managed memory may be larger than its device.
    return log::settings().limit_bytes == log::kNoBytes || !takes_device_memory(call.hook) ||
           kApis[call.api()].memory == format::Memory::managed || within_limit(bytes);
}

void record_short(Call& call, CUresult result, std::uint64_t bytes)
{
    if (result != CUDA_ERROR_OUT_OF_MEMORY || !call.ready())
        return;
    log::record_failure(call.thread, call.api(), result, 0, bytes, call.site);
    if (takes_device_memory(call.hook))
        record_out_of_memory(call, bytes);
}

void record_bad_free(Call& call, CUresult result, std::uint64_t address)
{
    const bool expected =
        result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED;
    if (!expected && call.ready())
        log::record_failure(call.thread, call.api(), result, address, 0, call.site);
}

format::Place place_now(Call& call)
{
    const Driver* driver = Driver::find();
    return driver && !exiting() ? place_in(call.thread, *driver, nullptr) : format::Place{};
}

format::Place place_of_stream(Call& call, CUstream stream, CUmemoryPool pool)
{
    const Driver* driver = Driver::find();
    if (!driver || exiting())
        return {};
    const bool created = stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
    CUcontext context = nullptr;
    if (created && driver->stream_context)
        driver->stream_context(stream, &context);
    format::Place place = place_in(call.thread, *driver, context);
    place.stream = number(stream);
    place.pool = number(pool ? pool : current_pool(place.device));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream && stream != CU_STREAM_LEGACY &&
        driver->is_capturing // the legacy stream cannot be captured
        && driver->is_capturing(stream, &status) == CUDA_SUCCESS)
        place.capturing = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return place;
}

void Imports::succeeded(Call& call)
{
    const Driver* driver = Driver::find();
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (!driver || !driver->address_range || exiting() ||
        driver->address_range(&base, &bytes, *out) != CUDA_SUCCESS)
        bytes = 0;
    record_alloc(call, *out, bytes, place_now(call));
}

void MapsTiles::succeeded(Call& call)
{
    for (unsigned i = 0; i < count; ++i) {
        const CUarrayMapInfo& tile = list[i];
        const std::uint64_t key = tile_key(tile);
        if (tile.memOperationType == CU_MEM_OPERATION_TYPE_MAP)
            log::record_map(call.thread, call.api(), key, 1, tile.memHandle.memHandle, call.site);
        else
            log::record_unmap(call.thread, call.api(), call.ticks, key, 1);
    }
}

void CreatesPool::succeeded(Call& call)
{
    record_alloc(call, number(*out), 0, place_now(call));
    note_pool(call.thread, {number(*out), props->location.type, props->location.id,
                            props->allocType == kManagedPool});
}

void GetsPool::succeeded(Call& call)
{
    note_pool(call.thread, {number(*out), location->type, location->id, type == kManagedPool});
}

void CreatesPhysical::succeeded(Call& call)
{
    format::Place place = place_now(call);
    if (prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        place.device = prop->location.id;
        if (const Driver* driver = Driver::find())
            note_device(call.thread, *driver, prop->location.id);
    }
    record_alloc(call, *out, bytes, place);
}

void primary_released(Call& call, std::uint64_t ticks, CUdevice device)
{
    const Driver* driver = Driver::find();
    unsigned flags = 0;
    int active = 1;
    if (!driver || !driver->primary_state || exiting() ||
        driver->primary_state(device, &flags, &active) != CUDA_SUCCESS || active)
        return;
    primary_gone(call.thread, {call.hook, ticks, call.site}, device);
}

void Initialises::failed(Call&, CUresult result)
{
    char text[64];
    std::snprintf(text, sizeof text, "cuInit failed with error %d", static_cast<int>(result));
    log::announce("note", text);
}

} // namespace vramscope::hooks
