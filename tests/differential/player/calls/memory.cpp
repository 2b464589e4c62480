// tests/differential/player/calls/memory.cpp — device, pitched and managed memory, and cuMemFree.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

void allocate(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    if (CALL(world, cuMemAlloc_v2, block, bytes) == CUDA_SUCCESS)
        world.allocated(Kind::device, block.value, bytes);
}

void allocate_v1(World& world)
{
    Out<CUdeviceptr_v1> block(Meaning::address);
    world.maybe_null(block);
    const auto bytes = static_cast<unsigned>(world.size());
    if (CALL(world, cuMemAlloc, block, bytes) == CUDA_SUCCESS)
        world.allocated(Kind::device, block.value, bytes);
}

void allocate_pitch(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    Out<std::size_t> pitch;
    world.maybe_null(block);
    world.maybe_null(pitch);
    const std::size_t width = world.rng().chance(10) ? world.size() : 1 + world.rng().below(5000);
    const std::size_t height = world.rng().chance(10) ? 0 : 1 + world.rng().below(200);
    const auto element = world.rng().one_of<unsigned>({4, 8, 16, 16, 3});
    if (CALL(world, cuMemAllocPitch_v2, block, pitch, width, height, element) == CUDA_SUCCESS)
        world.allocated(Kind::pitched, block.value, pitch.value * height);
}

void allocate_pitch_v1(World& world)
{
    Out<CUdeviceptr_v1> block(Meaning::address);
    Out<unsigned> pitch;
    world.maybe_null(block);
    world.maybe_null(pitch);
    const auto width = static_cast<unsigned>(world.rng().below(5000));
    const auto height = static_cast<unsigned>(world.rng().below(200));
    const auto element = world.rng().one_of<unsigned>({4, 8, 16, 16, 3});
    if (CALL(world, cuMemAllocPitch, block, pitch, width, height, element) == CUDA_SUCCESS)
        world.allocated(Kind::pitched, block.value, std::uint64_t{pitch.value} * height);
}

void allocate_managed(World& world)
{
    Out<CUdeviceptr> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const auto flags = world.rng().one_of<unsigned>(
        {CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_SINGLE});
    if (CALL(world, cuMemAllocManaged, block, bytes, flags) == CUDA_SUCCESS)
        world.allocated(Kind::managed, block.value, bytes);
}

std::uint64_t some_pointer(World& world)
{
    return world.pointer({Kind::device, Kind::pitched, Kind::managed, Kind::async});
}

void free(World& world)
{
    const CUdeviceptr address = some_pointer(world);
    if (CALL(world, cuMemFree_v2, address) == CUDA_SUCCESS)
        world.freed(address, &freed_by_address);
}

void free_v1(World& world)
{
    constexpr std::uint64_t kLowest = 0xffffffff; // the old form reaches what it allocated itself
    const std::uint64_t pointer = some_pointer(world);
    const auto address = static_cast<CUdeviceptr_v1>(pointer > kLowest ? 0x1000 : pointer);
    if (CALL(world, cuMemFree, address) == CUDA_SUCCESS)
        world.freed(address, &freed_by_address);
}

void free_twice(World& world)
{
    const Block* const block = world.live_block({Kind::device, Kind::pitched, Kind::managed});
    const CUdeviceptr address = block ? block->address : 0;
    for (int i = 0; i < 2; ++i)
        if (CALL(world, cuMemFree_v2, address) == CUDA_SUCCESS)
            world.freed(address, &freed_by_address);
}

constexpr Operation kOperations[] = {
    {14, &allocate},        {5, &allocate_v1}, {4, &allocate_pitch}, {3, &allocate_pitch_v1},
    {5, &allocate_managed}, {14, &free},       {4, &free_v1},        {2, &free_twice},
};

} // namespace

std::span<const Operation> memory_operations()
{
    return kOperations;
}

} // namespace differential
