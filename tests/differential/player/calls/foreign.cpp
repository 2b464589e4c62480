// tests/differential/player/calls/foreign.cpp — memory of others, and names for ours.
#include <unistd.h>

#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

constexpr std::size_t kExportedBytes = 2 << 20; // exporter.cpp

CUipcMemHandle some_ipc_handle(World& world)
{
    const auto& exported = exported_by_another();
    CUipcMemHandle handle{};
    if (!world.rng().chance(10)) // if not, it belongs to nothing
        handle = exported[world.rng().below(exported.size())];
    return handle;
}

// Opened once more it has the same address, and its closes are counted.
void opened(World& world, CUresult result, const Out<CUdeviceptr>& block)
{
    if (result != CUDA_SUCCESS)
        return;
    if (Block* const known = world.model().live_at(block.value, &is<Kind::foreign>))
        ++known->references;
    else
        world.allocated(Kind::foreign, block.value, kExportedBytes);
}

void open_v2(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const CUipcMemHandle handle = some_ipc_handle(world);
    const auto flags = world.rng().one_of<unsigned>({1, 1, 0, 6});
    opened(world, CALL(world, cuIpcOpenMemHandle_v2, block, handle, flags), block);
}

void open_v1(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const CUipcMemHandle handle = some_ipc_handle(world);
    opened(world, CALL(world, cuIpcOpenMemHandle, block, handle, 1U), block);
}

void close_ipc(World& world)
{
    const CUdeviceptr block = world.pointer({Kind::foreign});
    if (CALL(world, cuIpcCloseMemHandle, block) != CUDA_SUCCESS)
        return;
    Block* const known = world.model().live_at(block, &is<Kind::foreign>);
    if (known && --known->references == 0)
        world.freed(block, &is<Kind::foreign>);
}

void name_memory(World& world)
{
    Out<CUipcMemHandle> handle;
    world.maybe_null(handle);
    const CUdeviceptr memory = world.pointer({Kind::device});
    if (!world.shared_by_chance(memory))
        CALL(world, cuIpcGetMemHandle, handle, memory);
}

void name_range(World& world)
{
    Out<int> file(Meaning::file);
    world.maybe_null(file);
    const CUdeviceptr start = world.pointer({Kind::device, Kind::pinned});
    if (world.shared_by_chance(start))
        return;
    if (CALL(world, cuMemGetHandleForAddressRange, file, start, std::size_t{4096},
             CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0ULL) == CUDA_SUCCESS)
        close(file.value);
}

void import_physical(World& world, int file)
{
    Out<CUmemGenericAllocationHandle> handle(Meaning::handle);
    world.maybe_null(handle);
    Hidden<void*> name{reinterpret_cast<void*>(static_cast<std::intptr_t>(file))};
    if (CALL(world, cuMemImportFromShareableHandle, handle, name,
             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS)
        world.allocated(Kind::shared, handle.value, 0, 1);
    close(file);
}

void import_external(World& world, int file, std::size_t bytes)
{
    Out<CUexternalMemory> memory;
    world.maybe_null(memory);
    In<CUDA_EXTERNAL_MEMORY_HANDLE_DESC> description;
    description.value.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    description.value.handle.fd = file;
    description.value.size = world.rng().chance(90) ? bytes : ~0ULL;
    if (CALL(world, cuImportExternalMemory, memory, description) != CUDA_SUCCESS) {
        close(file); // else it is the driver's now
        return;
    }
    const std::uint64_t context = world.current_context();
    world.add(Thing::external, memory.value).context = context;
}

// Our own memory, by the way that another process would come.
void share_physical(World& world)
{
    Out<int> file(Meaning::file);
    world.maybe_null(file);
    const Block* const block = world.live_block({Kind::physical});
    const CUmemGenericAllocationHandle handle =
        block && !world.rng().chance(10) ? block->address : world.pointer({Kind::shared});
    const std::size_t bytes = block ? block->bytes : 4096;
    if (CALL(world, cuMemExportToShareableHandle, file, handle,
             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0ULL) != CUDA_SUCCESS)
        return;
    if (world.rng().chance(50))
        import_physical(world, file.value);
    else
        import_external(world, file.value, bytes);
}

void map_external(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    In<CUDA_EXTERNAL_MEMORY_BUFFER_DESC> buffer;
    buffer.value.size = world.rng().one_of<std::size_t>({4096, 1 << 20, 2 << 20, 0});
    if (CALL(world, cuExternalMemoryGetMappedBuffer, block,
             world.handle_as<CUexternalMemory>(Thing::external), buffer) == CUDA_SUCCESS)
        world.allocated(Kind::foreign, block.value, buffer.value.size);
}

void map_external_mipmap(World& world)
{
    Out<CUmipmappedArray> mipmap;
    world.maybe_null(mipmap);
    In<CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC> description;
    description.value.arrayDesc = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    description.value.numLevels = world.rng().one_of<unsigned>({1, 1, 0});
    if (CALL(world, cuExternalMemoryGetMappedMipmappedArray, mipmap,
             world.handle_as<CUexternalMemory>(Thing::external), description) != CUDA_SUCCESS)
        return;
    CALL(world, cuMipmappedArrayDestroy, mipmap.value);
}

void destroy_external(World& world)
{
    const std::uint64_t handle = world.handle(Thing::external);
    if (CALL(world, cuDestroyExternalMemory, reinterpret_cast<CUexternalMemory>(handle)) ==
        CUDA_SUCCESS)
        if (Object* const memory = world.known(Thing::external, handle))
            memory->live = false;
}

template <class Call>
void map_nothing(World& world, Call call)
{
    In<CUarrayMapInfo> info; // it names no array
    info.null = world.rng().chance(20);
    call(info, world.rng().one_of<unsigned>({0, 1}), world.stream());
}

void map_array(World& world)
{
    map_nothing(world, [&](auto& info, unsigned count, CUstream stream) {
        CALL(world, cuMemMapArrayAsync, info, count, stream);
    });
}

void map_array_ptsz(World& world)
{
    map_nothing(world, [&](auto& info, unsigned count, CUstream stream) {
        CALL(world, cuMemMapArrayAsync_ptsz, info, count, stream);
    });
}

#if CUDA_VERSION >= 12010
void create_multicast(World& world)
{
    Out<CUmemGenericAllocationHandle> handle(Meaning::handle);
    world.maybe_null(handle);
    In<CUmulticastObjectProp> prop;
    prop.null = world.rng().chance(3);
    prop.value.numDevices = world.rng().one_of<unsigned>({2, 2, 1, 0});
    prop.value.size = world.rng().one_of<std::size_t>({2 << 20, 4 << 20, 1000});
    if (CALL(world, cuMulticastCreate, handle, prop) == CUDA_SUCCESS)
        world.allocated(Kind::shared, handle.value, 0, 1);
}
#endif

constexpr Operation kOperations[] = {
    {2, &open_v2},          {1, &open_v1},        {3, &close_ipc},      {2, &name_memory},
    {1, &name_range},       {3, &share_physical}, {2, &map_external},   {1, &map_external_mipmap},
    {2, &destroy_external}, {1, &map_array},      {1, &map_array_ptsz},
#if CUDA_VERSION >= 12010
    {1, &create_multicast},
#endif
};

} // namespace

std::span<const Operation> foreign_operations()
{
    return kOperations;
}

} // namespace differential
