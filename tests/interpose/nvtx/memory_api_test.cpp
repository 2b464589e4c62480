// tests/interpose/nvtx/memory_api_test.cpp — our structures have the layout of NVTX's own.
#include "interpose/nvtx/memory_api.hpp"

#include <gtest/gtest.h>

#if __has_include(<nvtx3/nvToolsExtMem.h>)
#include <nvtx3/nvToolsExtMem.h>

namespace vramscope::nvtx {
namespace {

#define SAME(ours, member, theirs, their_member)                                                   \
    static_assert(offsetof(ours, member) == offsetof(theirs, their_member))

TEST(NvtxMemory, HasTheLayoutOfTheHeader)
{
    static_assert(sizeof(ModuleSegment) == sizeof(nvtxExtModuleSegment_t));
    static_assert(sizeof(ModuleInfo) == sizeof(nvtxExtModuleInfo_t));
    static_assert(sizeof(VirtualRange) == sizeof(nvtxMemVirtualRangeDesc_t));
    static_assert(sizeof(HeapDescription) == sizeof(nvtxMemHeapDesc_t));
    static_assert(sizeof(RegionsToRegister) == sizeof(nvtxMemRegionsRegisterBatch_t));
    static_assert(sizeof(RegionsToResize) == sizeof(nvtxMemRegionsResizeBatch_t));
    static_assert(sizeof(RegionsToUnregister) == sizeof(nvtxMemRegionsUnregisterBatch_t));
    static_assert(sizeof(RegionName) == sizeof(nvtxMemRegionNameDesc_t));
    static_assert(sizeof(RegionsToName) == sizeof(nvtxMemRegionsNameBatch_t));
    static_assert(sizeof(nvtxMemRegionRef_t) == sizeof(const void*));
    SAME(ModuleSegment, functions, nvtxExtModuleSegment_t, functionSlots);
    SAME(ModuleInfo, version, nvtxExtModuleInfo_t, compatId);
    SAME(ModuleInfo, segments, nvtxExtModuleInfo_t, segments);
    SAME(VirtualRange, address, nvtxMemVirtualRangeDesc_t, ptr);
    SAME(HeapDescription, usage, nvtxMemHeapDesc_t, usage);
    SAME(HeapDescription, range, nvtxMemHeapDesc_t, typeSpecificDesc);
    SAME(HeapDescription, message_type, nvtxMemHeapDesc_t, messageType);
    SAME(HeapDescription, message, nvtxMemHeapDesc_t, message);
    SAME(RegionsToRegister, heap, nvtxMemRegionsRegisterBatch_t, heap);
    SAME(RegionsToRegister, elements, nvtxMemRegionsRegisterBatch_t, regionDescElements);
    SAME(RegionsToRegister, handles, nvtxMemRegionsRegisterBatch_t, regionHandleElementsOut);
    SAME(RegionsToResize, elements, nvtxMemRegionsResizeBatch_t, regionDescElements);
    SAME(RegionsToUnregister, elements, nvtxMemRegionsUnregisterBatch_t, refElements);
    SAME(RegionName, message_type, nvtxMemRegionNameDesc_t, nameType);
    SAME(RegionName, region, nvtxMemRegionNameDesc_t, region);
    SAME(RegionName, message, nvtxMemRegionNameDesc_t, name);
    SAME(RegionsToName, element_bytes, nvtxMemRegionsNameBatch_t, regionElementSize);
    SAME(RegionsToName, elements, nvtxMemRegionsNameBatch_t, regionElements);
}

TEST(NvtxMemory, HasTheNumbersOfTheHeader)
{
    EXPECT_EQ(kMemoryModule, NVTX_EXT_MODULEID_MEM);
    EXPECT_EQ(kMemoryVersion, NVTX_EXT_COMPATID_MEM);
    EXPECT_EQ(kSubAllocator, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR);
    EXPECT_EQ(kVirtualAddress, NVTX_MEM_TYPE_VIRTUAL_ADDRESS);
    EXPECT_EQ(kHeapRegister, std::size_t{NVTX3EXT_CBID_nvtxMemHeapRegister});
    EXPECT_EQ(kHeapUnregister, std::size_t{NVTX3EXT_CBID_nvtxMemHeapUnregister});
    EXPECT_EQ(kHeapReset, std::size_t{NVTX3EXT_CBID_nvtxMemHeapReset});
    EXPECT_EQ(kRegionsRegister, std::size_t{NVTX3EXT_CBID_nvtxMemRegionsRegister});
    EXPECT_EQ(kRegionsResize, std::size_t{NVTX3EXT_CBID_nvtxMemRegionsResize});
    EXPECT_EQ(kRegionsUnregister, std::size_t{NVTX3EXT_CBID_nvtxMemRegionsUnregister});
    EXPECT_EQ(kRegionsName, std::size_t{NVTX3EXT_CBID_nvtxMemRegionsName});
}

} // namespace
} // namespace vramscope::nvtx
#else
TEST(NvtxMemory, IsNotInThisToolkit)
{
    GTEST_SKIP() << "NVTX's memory extension comes with CUDA 13";
}
#endif
