// tests/differential/player/calls/host.cpp — pinned memory, and registered memory of the program.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

void allocate(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    const auto flags = world.rng().one_of<unsigned>(
        {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP, 0x80});
    if (CALL(world, cuMemHostAlloc, block, bytes, flags) == CUDA_SUCCESS && bytes > 0)
        world.allocated(Kind::pinned, reinterpret_cast<std::uint64_t>(block.value), bytes);
}

void allocate_v2(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const std::size_t bytes = world.size();
    if (CALL(world, cuMemAllocHost_v2, block, bytes) == CUDA_SUCCESS && bytes > 0)
        world.allocated(Kind::pinned, reinterpret_cast<std::uint64_t>(block.value), bytes);
}

void allocate_v1(World& world)
{
    Out<void*> block(Meaning::address);
    world.maybe_null(block);
    const auto bytes = static_cast<unsigned>(world.size());
    if (CALL(world, cuMemAllocHost, block, bytes) == CUDA_SUCCESS && bytes > 0)
        world.allocated(Kind::pinned, reinterpret_cast<std::uint64_t>(block.value), bytes);
}

void free(World& world)
{
    const std::uint64_t address = world.pointer({Kind::pinned});
    if (CALL(world, cuMemFreeHost, reinterpret_cast<void*>(address)) == CUDA_SUCCESS)
        world.freed(address, &is<Kind::pinned>);
}

struct Range {
    unsigned char* start;
    std::size_t bytes;
    unsigned flags;
};

Range some_range(World& world)
{
    constexpr std::size_t kPage = 4096;
    const std::size_t page = world.rng().below(kScratchBytes / kPage - 8);
    const std::size_t inside = world.rng().chance(80) ? 0 : world.rng().below(kPage);
    const std::size_t bytes =
        world.rng().chance(5) ? 0 : 1 + world.rng().below(world.rng().chance(50) ? 100 : 7 * kPage);
    const auto flags =
        world.rng().one_of<unsigned>({0, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_DEVICEMAP,
                                      CU_MEMHOSTREGISTER_READ_ONLY, 0x80});
    unsigned char* const start = scratch() + page * kPage + inside;
    return {world.rng().chance(3) ? nullptr : start, bytes, flags};
}

void registered(World& world, CUresult result, const Range& range)
{
    if (result == CUDA_SUCCESS)
        world.allocated(Kind::registered, reinterpret_cast<std::uint64_t>(range.start),
                        range.bytes);
}

void register_v2(World& world)
{
    const Range range = some_range(world);
    registered(world, CALL(world, cuMemHostRegister_v2, range.start, range.bytes, range.flags),
               range);
}

void register_v1(World& world)
{
    const Range range = some_range(world);
    registered(world, CALL(world, cuMemHostRegister, range.start, range.bytes, range.flags), range);
}

void unregister(World& world)
{
    const std::uint64_t address = world.pointer({Kind::registered});
    if (CALL(world, cuMemHostUnregister, reinterpret_cast<void*>(address)) == CUDA_SUCCESS)
        world.freed(address, &is<Kind::registered>);
}

constexpr Operation kOperations[] = {
    {4, &allocate},    {3, &allocate_v2}, {3, &allocate_v1}, {9, &free},
    {4, &register_v2}, {3, &register_v1}, {5, &unregister},
};

} // namespace

std::span<const Operation> host_operations()
{
    return kOperations;
}

} // namespace differential
