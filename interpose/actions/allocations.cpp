// interpose/actions/allocations.cpp — the parts of the actions that are longer than a line.
#include "interpose/actions/owners.hpp"

#include <cstdio>
#include <iterator>

#include "tracker/capture/stack_table.hpp"
#include "tracker/environment/tell.hpp"

namespace vramscope::hooks {
namespace {

constexpr int kManagedPool = 2; // CU_MEM_ALLOCATION_TYPE_MANAGED, new in CUDA 13.0

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

void Imports::succeeded(Call& call)
{
    const Driver* driver = Driver::find();
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (!driver || !driver->address_range || exiting() ||
        driver->address_range(&base, &bytes, *out) != CUDA_SUCCESS)
        bytes = 0;
    record_allocation(call, *out, bytes, place_now(call));
}

void MapsTiles::succeeded(Call& call)
{
    for (unsigned i = 0; i < count; ++i) {
        const CUarrayMapInfo& tile = list[i];
        const std::uint64_t key = tile_key(tile);
        if (tile.memOperationType == CU_MEM_OPERATION_TYPE_MAP)
            log::write_with_stack(call.thread, call.site, call.api(),
                                  format::Map{key, 1, tile.memHandle.memHandle});
        else
            log::write(call.thread, {call.ticks, call.api()}, format::Unmap{key, 1});
    }
}

void CreatesMempool::succeeded(Call& call)
{
    record_allocation(call, number(*out), 0, place_now(call));
    note_mempool(call.thread, {number(*out), props->location.type, props->location.id,
                               props->allocType == kManagedPool});
}

void GetsMempool::succeeded(Call& call)
{
    note_mempool(call.thread, {number(*out), location->type, location->id, type == kManagedPool});
}

void CreatesPhysical::succeeded(Call& call)
{
    format::Place place = place_now(call);
    if (prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        place.device = prop->location.id;
        if (const Driver* driver = Driver::find())
            note_device(call.thread, *driver, prop->location.id);
    }
    record_allocation(call, *out, bytes, place);
}

void Initialises::failed(Call&, CUresult result)
{
    char text[64];
    std::snprintf(text, sizeof text, "cuInit failed with error %d", static_cast<int>(result));
    log::announce("note", text);
}

} // namespace vramscope::hooks
