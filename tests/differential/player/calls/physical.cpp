// tests/differential/player/calls/physical.cpp — virtual memory: handles, reservations, mappings.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

constexpr std::size_t kStep = 2 << 20;

std::size_t some_bytes(World& world)
{
    return world.rng().chance(8) ? world.size() : kStep * (1 + world.rng().below(4));
}

In<CUmemAllocationProp> properties(World& world)
{
    In<CUmemAllocationProp> prop;
    prop.null = world.rng().chance(2);
    prop.value.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.value.location = {CU_MEM_LOCATION_TYPE_DEVICE, world.device()};
    if (world.rng().chance(20))
        prop.value.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return prop;
}

void reserve(World& world)
{
    Out<CUdeviceptr> start(Meaning::address);
    world.maybe_null(start);
    const std::size_t bytes = some_bytes(world);
    const auto alignment = world.rng().one_of<std::size_t>({0, 0, kStep, 4 * kStep, 3});
    if (CALL(world, cuMemAddressReserve, start, bytes, alignment, CUdeviceptr{0}, 0ULL) ==
        CUDA_SUCCESS)
        world.allocated(Kind::reservation, start.value, bytes);
}

void free_reservation(World& world)
{
    const CUdeviceptr start = world.pointer({Kind::reservation});
    const Block* const block = world.model().live_at(start, &is<Kind::reservation>);
    const std::size_t bytes = block && !world.rng().chance(8) ? block->bytes : some_bytes(world);
    if (CALL(world, cuMemAddressFree, start, bytes) == CUDA_SUCCESS)
        world.freed(start, &is<Kind::reservation>);
}

void create(World& world)
{
    Out<CUmemGenericAllocationHandle> handle(Meaning::handle);
    world.maybe_null(handle);
    const std::size_t bytes = some_bytes(world);
    auto prop = properties(world);
    if (CALL(world, cuMemCreate, handle, bytes, prop, 0ULL) == CUDA_SUCCESS)
        world.allocated(Kind::physical, handle.value, bytes, 1);
}

void release_handle(World& world, std::uint64_t handle)
{
    if (CALL(world, cuMemRelease, CUmemGenericAllocationHandle{handle}) != CUDA_SUCCESS)
        return;
    if (Block* const block = world.model().live_at(handle, &is<Kind::physical>))
        world.model().released(*block);
    else
        world.freed(handle, &is<Kind::shared>);
}

void release(World& world)
{
    release_handle(world, world.pointer({Kind::physical, Kind::shared}));
}

const Mapping* some_mapping(World& world)
{
    const auto& mappings = world.model().mappings();
    const auto from = mappings.empty() ? 0 : world.rng().below(mappings.size());
    for (std::size_t i = 0; i < mappings.size(); ++i)
        if (mappings[(from + i) % mappings.size()].live)
            return &mappings[(from + i) % mappings.size()];
    return nullptr;
}

void retain(World& world)
{
    Out<CUmemGenericAllocationHandle> handle(Meaning::handle);
    world.maybe_null(handle);
    const Mapping* const mapping = some_mapping(world);
    const std::uint64_t address =
        mapping && !world.rng().chance(10) ? mapping->address : world.pointer({Kind::device});
    if (CALL(world, cuMemRetainAllocationHandle, handle, reinterpret_cast<void*>(address)) !=
        CUDA_SUCCESS)
        return;
    if (Block* const block = world.model().live_at(handle.value, &is<Kind::physical>)) {
        ++block->references;
        ++block->handles;
    }
}

void map(World& world)
{
    const Block* const range = world.live_block({Kind::reservation});
    Block* const physical = world.live_block({Kind::physical});
    if (!range || !physical)
        return;
    const std::size_t offset = kStep * world.rng().below(range->bytes / kStep);
    const CUdeviceptr start = range->address + (world.rng().chance(60) ? 0 : offset);
    const std::size_t bytes = world.rng().chance(85) ? physical->bytes : some_bytes(world);
    const CUmemGenericAllocationHandle handle =
        world.rng().chance(5) ? world.pointer({Kind::physical}) : physical->address;
    if (CALL(world, cuMemMap, start, bytes, std::size_t{0}, handle, 0ULL) != CUDA_SUCCESS)
        return;
    if (Block* const mapped = world.model().live_at(handle, &is<Kind::physical>))
        world.model().mapped(start, bytes, *mapped);
}

void unmap(World& world)
{
    const Mapping* const mapping = some_mapping(world);
    if (!mapping)
        return;
    const CUdeviceptr start = mapping->address;
    std::size_t bytes = mapping->bytes;
    if (world.rng().chance(10))
        bytes = some_bytes(world);
    if (CALL(world, cuMemUnmap, start, bytes) == CUDA_SUCCESS)
        world.model().unmapped(start, bytes);
}

void set_access(World& world)
{
    const Mapping* const mapping = some_mapping(world);
    if (!mapping)
        return;
    In<CUmemAccessDesc> access;
    access.value.location = {CU_MEM_LOCATION_TYPE_DEVICE, world.device()};
    access.value.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CALL(world, cuMemSetAccess, CUdeviceptr{mapping->address}, std::size_t{mapping->bytes}, access,
         std::size_t{1});
}

constexpr Operation kOperations[] = {
    {4, &reserve}, {3, &free_reservation}, {5, &create}, {4, &release}, {2, &retain}, {6, &map},
    {4, &unmap},   {1, &set_access},
};

} // namespace

std::span<const Operation> physical_operations()
{
    return kOperations;
}

} // namespace differential
