// tests/simgpu/physical.hpp — physical memory for the tests that map it.
#pragma once

#include "tests/simgpu/driver.hpp"

namespace simgpu::test {

inline CUmemAllocationProp
physical_properties(CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_NONE)
{
    CUmemAllocationProp made{};
    made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    made.requestedHandleTypes = type;
    return made;
}

inline CUmemGenericAllocationHandle
create_physical(size_t bytes, CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_NONE)
{
    CUmemGenericAllocationHandle handle = 0;
    const auto wanted = physical_properties(type);
    EXPECT_CU(cuMemCreate(&handle, bytes, &wanted, 0));
    return handle;
}

inline void give_access(CUdeviceptr address, size_t bytes)
{
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT_CU(cuMemSetAccess(address, bytes, &access, 1));
}

// Reserves a range, maps the memory into it and makes it accessible.
inline CUdeviceptr map_physical(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUdeviceptr address = 0;
    EXPECT_CU(cuMemAddressReserve(&address, bytes, 0, 0, 0));
    EXPECT_CU(cuMemMap(address, bytes, 0, handle, 0));
    give_access(address, bytes);
    return address;
}

} // namespace simgpu::test
