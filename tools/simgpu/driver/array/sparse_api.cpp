// tools/simgpu/driver/array/sparse_api.cpp — arrays whose memory is mapped into them in pieces.
//
// The pieces are remembered and keep their physical memory alive. Copies of such an
// array are refused.
#include <algorithm>
#include <bit>
#include <compare>

#include "api.hpp"
#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/memory/physical.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {
namespace {

struct Piece {
    unsigned kind = 0;
    unsigned level = 0;
    unsigned layer = 0;
    std::array<unsigned, 3> offset{};
    std::array<unsigned, 3> extent{};
    unsigned long long tail_offset = 0;
    auto operator<=>(const Piece&) const = default;
};

// The key holds the array or the mipmapped array. Under memory_mutex().
using Pieces = std::map<std::pair<const void*, Piece>, Physical*>;
Pieces& mapped_pieces()
{
    static auto* all = new Pieces;
    return *all;
}

void let_go(Physical& physical)
{
    --physical.uses;
    release_if_unused(physical);
}

void unmap_locked(const void* owner, const Piece& piece)
{
    const auto found = mapped_pieces().find({owner, piece});
    if (found == mapped_pieces().end())
        return;
    let_go(*found->second);
    mapped_pieces().erase(found);
}

using Tile = std::array<unsigned, 3>;

// A tile has 64 KiB of elements, in the shapes that graphics APIs call standard.
Tile tile_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor)
{
    constexpr Tile kFlat[] = {
        {256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
    constexpr Tile kSolid[] = {
        {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
    const auto size = static_cast<unsigned>(std::countr_zero(element_bytes(descriptor)));
    const bool layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    return descriptor.Depth > 0 && !layered ? kSolid[size] : kFlat[size];
}

// What one entry of the list means; filled in by check().
struct Operation {
    const void* owner = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    unsigned levels = 1;
    Piece piece;
    Physical* physical = nullptr; // null means unmap
};

CUresult find_owner(const CUarrayMapInfo& info, Operation& operation)
{
    if (info.resourceType == CU_RESOURCE_TYPE_ARRAY) {
        const Array* array = slots<Array>().find(info.resource.array);
        if (!array)
            return CUDA_ERROR_INVALID_HANDLE;
        if (array->part_of_mipmap)
            return CUDA_ERROR_INVALID_VALUE;
        operation.owner = array;
        operation.descriptor = array->descriptor;
    } else if (info.resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        const Mipmap* mipmap = slots<Mipmap>().find(info.resource.mipmap);
        if (!mipmap)
            return CUDA_ERROR_INVALID_HANDLE;
        operation.owner = mipmap;
        operation.descriptor = mipmap->descriptor;
        operation.levels = static_cast<unsigned>(mipmap->levels.size());
    } else {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const auto& descriptor = operation.descriptor;
    const bool takes = (descriptor.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING));
    return takes && descriptor.Height > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool layer_fits(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned layer)
{
    const bool layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    return layered ? layer < descriptor.Depth : layer == 0;
}

bool find_level(const CUarrayMapInfo& info, Operation& operation)
{
    const auto& asked = info.subresource.sparseLevel;
    const auto& descriptor = operation.descriptor;
    const bool solid = descriptor.Depth > 0 && (descriptor.Flags & CUDA_ARRAY3D_LAYERED) == 0;
    if (asked.level >= operation.levels || !layer_fits(descriptor, asked.layer))
        return false;
    operation.piece.level = asked.level;
    operation.piece.layer = asked.layer;
    operation.piece.offset = {asked.offsetX, asked.offsetY, asked.offsetZ};
    operation.piece.extent = {asked.extentWidth, asked.extentHeight, asked.extentDepth};
    const std::size_t sizes[] = {descriptor.Width, descriptor.Height, solid ? descriptor.Depth : 1};
    const Tile tile = tile_of(descriptor);
    for (unsigned axis = 0; axis < 3; ++axis) {
        const std::size_t size = std::max<std::size_t>(1, sizes[axis] >> asked.level);
        const std::size_t offset = operation.piece.offset[axis];
        const std::size_t extent = operation.piece.extent[axis];
        const bool to_the_edge = offset + extent == size;
        if (extent == 0 || offset % tile[axis] != 0 || (extent % tile[axis] != 0 && !to_the_edge) ||
            offset + extent > round_up(size, tile[axis]))
            return false;
    }
    return true;
}

bool find_piece(const CUarrayMapInfo& info, Operation& operation)
{
    if ((operation.descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0)
        return true; // it means the whole array: cuda.h ignores the subresource
    operation.piece.kind = info.subresourceType;
    if (info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL)
        return find_level(info, operation);
    const auto& tail = info.subresource.miptail;
    operation.piece.layer = tail.layer;
    operation.piece.tail_offset = tail.offset;
    return info.subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL && tail.size > 0 &&
           tail.offset % kArrayStep == 0 && tail.size % kArrayStep == 0 &&
           layer_fits(operation.descriptor, tail.layer);
}

CUresult find_memory_locked(const CUarrayMapInfo& info, const Device& device, Operation& operation)
{
    if (info.memOperationType == CU_MEM_OPERATION_TYPE_UNMAP)
        return info.memHandle.memHandle == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (info.memOperationType != CU_MEM_OPERATION_TYPE_MAP ||
        info.memHandleType != CU_MEM_HANDLE_TYPE_GENERIC)
        return CUDA_ERROR_INVALID_VALUE;
    Physical* const physical = physical_of(info.memHandle.memHandle);
    if (!physical)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((physical->properties.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) == 0 ||
        physical->device != &device || info.offset >= physical->bytes ||
        info.offset % kArrayStep != 0)
        return CUDA_ERROR_INVALID_VALUE;
    operation.physical = physical;
    return CUDA_SUCCESS;
}

CUresult check_locked(const CUarrayMapInfo& info, const Device& device, Operation& operation)
{
    if (info.flags != 0 || info.reserved[0] != 0 || info.reserved[1] != 0 ||
        info.deviceBitMask != 1u << device.ordinal())
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = find_owner(info, operation))
        return error;
    if (!find_piece(info, operation))
        return CUDA_ERROR_INVALID_VALUE;
    return find_memory_locked(info, device, operation);
}

CUresult tell_sparse(CUDA_ARRAY_SPARSE_PROPERTIES* out, const CUDA_ARRAY3D_DESCRIPTOR& descriptor)
{
    if (!out || (descriptor.Flags & CUDA_ARRAY3D_SPARSE) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const Tile tile = tile_of(descriptor);
    *out = {};
    out->tileExtent = {tile[0], tile[1], tile[2]};
    return CUDA_SUCCESS;
}

} // namespace

void unmap_array_locked(const void* array_or_mipmap)
{
    auto piece = mapped_pieces().lower_bound({array_or_mipmap, Piece{}});
    while (piece != mapped_pieces().end() && piece->first.first == array_or_mipmap) {
        let_go(*piece->second);
        piece = mapped_pieces().erase(piece);
    }
}

namespace api {

CUresult cuMemMapArrayAsync(Context& context, CUarrayMapInfo* mapInfoList, unsigned int count,
                            CUstream hStream)
{
    Stream* stream = nullptr;
    if (const CUresult error = resolve_stream(hStream, context, stream))
        return error;
    if (const CUresult refused = refuse_to_wait(*stream))
        return refused;
    if (count > 0 && !mapInfoList)
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<Operation> operations;
    {
        const std::lock_guard lock(memory_mutex());
        for (unsigned index = 0; index < count; ++index)
            if (const CUresult error = check_locked(mapInfoList[index], *stream->context->device,
                                                    operations.emplace_back()))
                return error;
        // The memory is kept from now on, also for queued work.
        for (const Operation& operation : operations)
            if (operation.physical)
                ++operation.physical->uses;
    }
    Work work;
    work.run = [operations = std::move(operations)] {
        const std::lock_guard lock(memory_mutex());
        for (const Operation& operation : operations) {
            unmap_locked(operation.owner, operation.piece);
            const bool living =
                slots<Array>().find(operation.owner) || slots<Mipmap>().find(operation.owner);
            if (operation.physical && !living)
                let_go(*operation.physical);
            else if (operation.physical)
                mapped_pieces()[{operation.owner, operation.piece}] = operation.physical;
        }
        return CUDA_SUCCESS;
    };
    enqueue(*stream, std::move(work));
    return CUDA_SUCCESS;
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties, CUarray array)
{
    const Array* found = slots<Array>().find(array);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    return found->part_of_mipmap ? CUDA_ERROR_INVALID_VALUE
                                 : tell_sparse(sparseProperties, found->descriptor);
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* sparseProperties,
                                             CUmipmappedArray mipmap)
{
    const Mipmap* found = slots<Mipmap>().find(mipmap);
    return found ? tell_sparse(sparseProperties, found->descriptor) : CUDA_ERROR_INVALID_HANDLE;
}

} // namespace api
} // namespace simgpu
