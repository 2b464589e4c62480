// tests/differential/player/calls/queries.cpp — queries, whose answers must be the driver's.
#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

std::uint64_t any_pointer(World& world)
{
    return world.pointer({Kind::device, Kind::pitched, Kind::managed, Kind::async, Kind::pinned,
                          Kind::registered, Kind::reservation});
}

void memory_info(World& world)
{
    Out<std::size_t> free(Meaning::pools_choice), total;
    world.maybe_null(free);
    world.maybe_null(total);
    CALL(world, cuMemGetInfo_v2, free, total);
}

void memory_info_v1(World& world)
{
    Out<unsigned> free(Meaning::pools_choice), total;
    world.maybe_null(free);
    world.maybe_null(total);
    CALL(world, cuMemGetInfo, free, total);
}

void address_range(World& world)
{
    Out<CUdeviceptr> base(Meaning::address);
    Out<std::size_t> bytes;
    world.maybe_null(base);
    world.maybe_null(bytes);
    CALL(world, cuMemGetAddressRange_v2, base, bytes, CUdeviceptr{any_pointer(world)});
}

template <class T>
void ask(World& world, CUpointer_attribute attribute, Meaning meaning)
{
    Out<T> value(meaning);
    world.maybe_null(value);
    CALL(world, cuPointerGetAttribute, value, attribute, CUdeviceptr{any_pointer(world)});
}

void pointer_attribute(World& world)
{
    switch (world.rng().below(7)) {
    case 0:
        return ask<CUcontext>(world, CU_POINTER_ATTRIBUTE_CONTEXT, Meaning::handle);
    case 1:
        return ask<unsigned>(world, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Meaning::number);
    case 2:
        return ask<CUdeviceptr>(world, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, Meaning::address);
    case 3:
        return ask<void*>(world, CU_POINTER_ATTRIBUTE_HOST_POINTER, Meaning::address);
    case 4:
        return ask<unsigned long long>(world, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                       Meaning::pools_choice);
    case 5:
        return ask<std::size_t>(world, CU_POINTER_ATTRIBUTE_RANGE_SIZE, Meaning::number);
    default:
        return ask<unsigned char>(world, CU_POINTER_ATTRIBUTE_IS_MANAGED, Meaning::number);
    }
}

void pointer_attributes(World& world)
{
    struct Answers {
        unsigned type;
        int device;
        std::size_t bytes;
    };
    Out<Answers> answers;
    answers.value.type = 0; // the pattern may not be "untouched" in part
    In<CUpointer_attribute[3]> asked;
    In<void* [3]> data;
    asked.value[0] = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    asked.value[1] = CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    asked.value[2] = CU_POINTER_ATTRIBUTE_RANGE_SIZE;
    data.value[0] = &answers.value.type;
    data.value[1] = &answers.value.device;
    data.value[2] = &answers.value.bytes;
    const CUdeviceptr pointer = any_pointer(world);
    CALL(world, cuPointerGetAttributes, 3U, &asked.value[0], &data.value[0], pointer);
    world.text() << "    " << std::uint64_t{answers.value.type} << " " << answers.value.device
                 << " " << std::uint64_t{answers.value.bytes}
                 << (answers.damaged() ? " DAMAGED" : "") << "\n";
}

void current_context(World& world)
{
    Out<CUcontext> context;
    world.maybe_null(context);
    CALL(world, cuCtxGetCurrent, context);
}

void current_device(World& world)
{
    Out<CUdevice> device;
    world.maybe_null(device);
    CALL(world, cuCtxGetDevice, device);
}

void primary_state(World& world)
{
    Out<unsigned> flags;
    Out<int> active;
    world.maybe_null(flags);
    world.maybe_null(active);
    CALL(world, cuDevicePrimaryCtxGetState, world.device(), flags, active);
}

void capture_status(World& world)
{
    Out<CUstreamCaptureStatus> status;
    world.maybe_null(status);
    CALL(world, cuStreamIsCapturing, world.stream(), status);
}

struct Asked {
    const char* name;
    int version;
};
constexpr Asked kAsked[] = {
    {"cuMemAlloc", 3020},
    {"cuMemAlloc", 2000},
    {"cuMemFreeAsync", 12000},
    {"cuMemCreate", 9000},
    {"cuStreamQuery", 7000},
    {"cuNothing", 12000},
    {"", 0},
    {"cuGetProcAddress", 11030},
    {"cuCtxDestroy", 12000},
};

void write_found(World& world, const Out<void*>& found)
{
    if (!World::written(found))
        return;
    const char* const name = found.value ? name_of_function(found.value) : nullptr;
    world.text() << "    found " << (name ? name : "nothing") << "\n";
}

cuuint64_t some_flags(World& world)
{
    return world.rng().one_of<cuuint64_t>({CU_GET_PROC_ADDRESS_DEFAULT,
                                           CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, 77});
}

void look_up_v1(World& world)
{
    const Asked& asked = kAsked[world.rng().below(std::size(kAsked))];
    Out<void*> found(Meaning::handle);
    world.maybe_null(found);
    CALL(world, cuGetProcAddress, asked.name, found, asked.version, some_flags(world));
    write_found(world, found);
}

#if CUDA_VERSION >= 12000
void look_up_v2(World& world)
{
    const Asked& asked = kAsked[world.rng().below(std::size(kAsked))];
    Out<void*> found(Meaning::handle);
    Out<CUdriverProcAddressQueryResult> status;
    world.maybe_null(found);
    world.maybe_null(status);
    CALL(world, cuGetProcAddress_v2, asked.name, found, asked.version, some_flags(world), status);
    write_found(world, found);
}
#endif

constexpr Operation kOperations[] = {
    {8, &memory_info},        {2, &memory_info_v1},  {3, &address_range},  {6, &pointer_attribute},
    {2, &pointer_attributes}, {2, &current_context}, {1, &current_device}, {1, &primary_state},
    {2, &capture_status},     {2, &look_up_v1},
#if CUDA_VERSION >= 12000
    {2, &look_up_v2},
#endif
};

} // namespace

std::span<const Operation> query_operations()
{
    return kOperations;
}

} // namespace differential
