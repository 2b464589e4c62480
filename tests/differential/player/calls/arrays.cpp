// tests/differential/player/calls/arrays.cpp — arrays and mipmapped arrays, by every descriptor.
#include <algorithm>

#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

CUarray_format some_format(World& world)
{
    return world.rng().one_of({CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_HALF, CU_AD_FORMAT_UNSIGNED_INT8,
                               CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32});
}

// It is computed from the descriptor alone, and written apart from what the hooks do.
template <class Descriptor>
std::uint64_t descriptor_bytes(const Descriptor& array, unsigned levels)
{
    std::uint64_t element = 4;
    if (array.Format == CU_AD_FORMAT_UNSIGNED_INT8)
        element = 1;
    else if (array.Format == CU_AD_FORMAT_HALF || array.Format == CU_AD_FORMAT_SIGNED_INT16)
        element = 2;
    std::uint64_t width = array.Width, height = std::max<std::uint64_t>(1, array.Height);
    std::uint64_t depth = 1, elements = 0;
    if constexpr (requires { array.Depth; }) {
        if ((array.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0)
            return 0;
        depth = std::max<std::uint64_t>(1, array.Depth);
    }
    for (unsigned level = 0; level < levels; ++level) {
        elements += width * height * depth;
        width = std::max<std::uint64_t>(1, width / 2);
        height = std::max<std::uint64_t>(1, height / 2);
        depth = std::max<std::uint64_t>(1, depth / 2);
    }
    return elements * element * array.NumChannels;
}

template <class Descriptor>
In<Descriptor> flat(World& world)
{
    In<Descriptor> shape;
    shape.null = world.rng().chance(2);
    using Side = decltype(shape.value.Width);
    shape.value.Width = static_cast<Side>(world.rng().below(300));
    shape.value.Height = static_cast<Side>(world.rng().below(40));
    shape.value.Format = some_format(world);
    shape.value.NumChannels = world.rng().one_of<unsigned>({1, 2, 4, 1, 3});
    return shape;
}

template <class Descriptor>
In<Descriptor> solid(World& world)
{
    In<Descriptor> shape = flat<Descriptor>(world);
    shape.value.Depth = static_cast<decltype(shape.value.Depth)>(world.rng().below(6));
    if (world.rng().chance(10))
        shape.value.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
    return shape;
}

template <class Descriptor>
void created(World& world, CUresult result, const Out<CUarray>& array, const In<Descriptor>& shape)
{
    if (result == CUDA_SUCCESS)
        world.allocated(Kind::array, reinterpret_cast<std::uint64_t>(array.value),
                        descriptor_bytes(shape.value, 1), 1);
}

void create_v2(World& world)
{
    Out<CUarray> array;
    world.maybe_null(array);
    auto shape = flat<CUDA_ARRAY_DESCRIPTOR>(world);
    created(world, CALL(world, cuArrayCreate_v2, array, shape), array, shape);
}

void create_v1(World& world)
{
    Out<CUarray> array;
    world.maybe_null(array);
    auto shape = flat<CUDA_ARRAY_DESCRIPTOR_v1>(world);
    created(world, CALL(world, cuArrayCreate, array, shape), array, shape);
}

void create_3d_v2(World& world)
{
    Out<CUarray> array;
    world.maybe_null(array);
    auto shape = solid<CUDA_ARRAY3D_DESCRIPTOR>(world);
    created(world, CALL(world, cuArray3DCreate_v2, array, shape), array, shape);
}

void create_3d_v1(World& world)
{
    Out<CUarray> array;
    world.maybe_null(array);
    auto shape = solid<CUDA_ARRAY3D_DESCRIPTOR_v1>(world);
    created(world, CALL(world, cuArray3DCreate, array, shape), array, shape);
}

void destroy(World& world)
{
    const std::uint64_t handle = world.pointer({Kind::array});
    if (CALL(world, cuArrayDestroy, reinterpret_cast<CUarray>(handle)) == CUDA_SUCCESS)
        world.freed(handle, &is<Kind::array>);
}

// A view of an array: a texture or a surface object.
In<CUDA_RESOURCE_DESC> viewed(World& world)
{
    In<CUDA_RESOURCE_DESC> resource;
    resource.value.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.value.res.array.hArray = reinterpret_cast<CUarray>(world.pointer({Kind::array}));
    return resource;
}

void create_texture(World& world)
{
    Out<CUtexObject> texture;
    world.maybe_null(texture);
    auto resource = viewed(world);
    In<CUDA_TEXTURE_DESC> how;
    const CUDA_RESOURCE_VIEW_DESC* const whole = nullptr;
    if (CALL(world, cuTexObjectCreate, texture, resource, how, whole) == CUDA_SUCCESS)
        world.add(Thing::texture, std::uint64_t{texture.value});
}

void create_surface(World& world)
{
    Out<CUsurfObject> surface;
    world.maybe_null(surface);
    auto resource = viewed(world);
    if (CALL(world, cuSurfObjectCreate, surface, resource) == CUDA_SUCCESS)
        world.add(Thing::surface, std::uint64_t{surface.value});
}

void destroy_texture(World& world)
{
    const std::uint64_t handle = world.handle(Thing::texture);
    if (CALL(world, cuTexObjectDestroy, CUtexObject{handle}) == CUDA_SUCCESS)
        if (Object* const texture = world.known(Thing::texture, handle))
            texture->live = false;
}

void destroy_surface(World& world)
{
    const std::uint64_t handle = world.handle(Thing::surface);
    if (CALL(world, cuSurfObjectDestroy, CUsurfObject{handle}) == CUDA_SUCCESS)
        if (Object* const surface = world.known(Thing::surface, handle))
            surface->live = false;
}

void create_mipmap(World& world)
{
    Out<CUmipmappedArray> mipmap;
    world.maybe_null(mipmap);
    auto shape = solid<CUDA_ARRAY3D_DESCRIPTOR>(world);
    const auto levels = static_cast<unsigned>(world.rng().below(7));
    if (CALL(world, cuMipmappedArrayCreate, mipmap, shape, levels) == CUDA_SUCCESS)
        world.allocated(Kind::mipmap, reinterpret_cast<std::uint64_t>(mipmap.value),
                        descriptor_bytes(shape.value, levels), 1);
}

void destroy_mipmap(World& world)
{
    const std::uint64_t handle = world.pointer({Kind::mipmap});
    if (CALL(world, cuMipmappedArrayDestroy, reinterpret_cast<CUmipmappedArray>(handle)) ==
        CUDA_SUCCESS)
        world.freed(handle, &is<Kind::mipmap>);
}

constexpr Operation kOperations[] = {
    {1, &create_texture}, {1, &create_surface}, {1, &destroy_texture}, {1, &destroy_surface},
    {2, &create_v2},      {2, &create_v1},      {2, &create_3d_v2},    {2, &create_3d_v1},
    {6, &destroy},        {3, &create_mipmap},  {3, &destroy_mipmap},
};

} // namespace

std::span<const Operation> array_operations()
{
    return kOperations;
}

} // namespace differential
