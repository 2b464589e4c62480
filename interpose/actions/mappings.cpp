// interpose/actions/mappings.cpp — the tiles of sparse arrays.
#include "interpose/actions/mappings.hpp"

#include <iterator>

#include "tracker/capture/stack_table.hpp"

namespace vramscope::hooks {
namespace {

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

} // namespace vramscope::hooks
