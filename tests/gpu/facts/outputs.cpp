// tests/gpu/facts/outputs.cpp — what a call that fails, or that has nothing to do, leaves where the
// program's answer was to be.
#include <cstdio>
#include <cstring>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

constexpr std::size_t kTooMuch = std::size_t{1} << 50;

/// `call` writes its answer to the place that it is given.
template <class Call>
void tell(const char* what, Call call)
{
    unsigned long long untouched = 0;
    std::memset(&untouched, 0x77, sizeof untouched);
    unsigned long long answer = untouched;
    const CUresult result = call(&answer);
    std::printf("%s: %s, the answer is %s\n", what, name_of(result).c_str(),
                answer == 0           ? "null"
                : answer == untouched ? "untouched"
                                      : "set");
}

template <class Out>
Out* as(unsigned long long* answer)
{
    return reinterpret_cast<Out*>(answer);
}

void tell_allocations(std::size_t size, const char* text)
{
    std::printf("of %s:\n", text);
    tell("cuMemAlloc", [&](auto* p) { return cuMemAlloc(as<CUdeviceptr>(p), size); });
    tell("cuMemAllocPitch", [&](auto* p) {
        std::size_t pitch = 0;
        return cuMemAllocPitch(as<CUdeviceptr>(p), &pitch, size, size, 4);
    });
    if (size == 0)
        tell("cuMemAllocManaged", [&](auto* p) {
            return cuMemAllocManaged(as<CUdeviceptr>(p), size, CU_MEM_ATTACH_GLOBAL);
        });
    tell("cuMemAllocHost", [&](auto* p) { return cuMemAllocHost(as<void*>(p), size); });
    tell("cuMemHostAlloc", [&](auto* p) { return cuMemHostAlloc(as<void*>(p), size, 0); });
    tell("cuMemAllocAsync",
         [&](auto* p) { return cuMemAllocAsync(as<CUdeviceptr>(p), size, nullptr); });
    CUmemoryPool pool = nullptr;
    (void)cuDeviceGetDefaultMemPool(&pool, 0);
    tell("cuMemAllocFromPoolAsync",
         [&](auto* p) { return cuMemAllocFromPoolAsync(as<CUdeviceptr>(p), size, pool, nullptr); });
    const CUmemAllocationProp properties = on_device();
    tell("cuMemCreate", [&](auto* p) {
        return cuMemCreate(as<CUmemGenericAllocationHandle>(p), size, &properties, 0);
    });
    tell("cuMemAddressReserve", [&](auto* p) {
        return cuMemAddressReserve(as<CUdeviceptr>(p), size ? ~std::size_t{0} << 30 : 0, 0, 0, 0);
    });
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    shape.Width = size ? 16384 : 0;
    shape.Height = size ? 16384 : 0;
    shape.Depth = size ? 16384 : 0;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 4;
    tell("cuArray3DCreate", [&](auto* p) { return cuArray3DCreate(as<CUarray>(p), &shape); });
    tell("cuMipmappedArrayCreate",
         [&](auto* p) { return cuMipmappedArrayCreate(as<CUmipmappedArray>(p), &shape, 3); });
}

} // namespace

void tell_outputs()
{
    tell_allocations(kTooMuch, "too much");
    tell_allocations(0, "0");
    std::printf("with wrong arguments:\n");
    tell("cuMemAlloc to null", [](auto*) { return cuMemAlloc(nullptr, 8); });
    tell("cuMemAllocAsync to null", [](auto*) { return cuMemAllocAsync(nullptr, 8, nullptr); });
    tell("cuMemHostAlloc with unknown flags",
         [](auto* p) { return cuMemHostAlloc(as<void*>(p), 8, 1u << 30); });
    tell("cuMemAllocPitch of elements of 3", [](auto* p) {
        std::size_t pitch = 0;
        return cuMemAllocPitch(as<CUdeviceptr>(p), &pitch, 64, 64, 3);
    });
    tell("cuMemAllocManaged with unknown flags",
         [](auto* p) { return cuMemAllocManaged(as<CUdeviceptr>(p), 8, 77); });
    tell("cuMemCreate of an odd size", [](auto* p) {
        const CUmemAllocationProp properties = on_device();
        return cuMemCreate(as<CUmemGenericAllocationHandle>(p), 1000, &properties, 0);
    });
    tell("cuMemGetAddressRange of nobody's",
         [](auto* p) { return cuMemGetAddressRange(as<CUdeviceptr>(p), nullptr, 0x1000); });
    tell("cuPointerGetAttribute of nobody's",
         [](auto* p) { return cuPointerGetAttribute(p, CU_POINTER_ATTRIBUTE_BUFFER_ID, 0x1000); });
    tell("cuStreamCreate with unknown flags",
         [](auto* p) { return cuStreamCreate(as<CUstream>(p), 1u << 30); });
    tell("cuEventCreate with unknown flags",
         [](auto* p) { return cuEventCreate(as<CUevent>(p), 1u << 30); });
    tell("cuMemPoolCreate of no kind", [](auto* p) {
        const CUmemPoolProps properties{};
        return cuMemPoolCreate(as<CUmemoryPool>(p), &properties);
    });
    tell("cuMemHostRegister of 0", [](auto*) {
        static char own[4096];
        return cuMemHostRegister(own, 0, 0);
    });

    std::printf("in a context that is gone:\n");
    CUdeviceptr block = 0;
    (void)cuMemAlloc(&block, 4096);
    (void)cuDevicePrimaryCtxReset(0);
    tell("cuMemAlloc", [](auto* p) { return cuMemAlloc(as<CUdeviceptr>(p), 8); });
    tell("cuMemFree of what was in it", [&](auto*) { return cuMemFree(block); });
    tell("cuMemFree of null", [](auto*) { return cuMemFree(0); });
    (void)cuCtxSetCurrent(nullptr);
    std::printf("without a context:\n");
    tell("cuMemAlloc", [](auto* p) { return cuMemAlloc(as<CUdeviceptr>(p), 8); });
    tell("cuMemAllocAsync",
         [](auto* p) { return cuMemAllocAsync(as<CUdeviceptr>(p), 8, nullptr); });
    tell("cuMemHostAlloc", [](auto* p) { return cuMemHostAlloc(as<void*>(p), 8, 0); });
    tell("cuMemFree of nobody's", [](auto*) { return cuMemFree(0x5000); });
    tell("cuMemFree of null", [](auto*) { return cuMemFree(0); });
    tell("cuMemFreeHost of null", [](auto*) { return cuMemFreeHost(nullptr); });
    tell("cuMemFreeAsync of null", [](auto*) { return cuMemFreeAsync(0, nullptr); });
}

void tell_imports()
{
    CUmemPoolProps properties = pool_on_device();
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemoryPool own = nullptr, theirs = nullptr;
    CUdeviceptr block = 0, mapped[2] = {0, 0};
    int file = -1;
    CUmemPoolPtrExportData data{};
    const auto step = [](const char* what, CUresult result) {
        std::printf("%s: %s\n", what, name_of(result).c_str());
    };
    step("cuMemPoolCreate", cuMemPoolCreate(&own, &properties));
    step("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&block, 4096, own, nullptr));
    CHECK(cudaDeviceSynchronize());
    step("cuMemPoolExportToShareableHandle",
         cuMemPoolExportToShareableHandle(&file, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    step("cuMemPoolExportPointer", cuMemPoolExportPointer(&data, block));
    void* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
    step("cuMemPoolImportFromShareableHandle",
         cuMemPoolImportFromShareableHandle(&theirs, handle,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    for (CUdeviceptr& one : mapped)
        step("cuMemPoolImportPointer", cuMemPoolImportPointer(&one, theirs, &data));
    std::printf("one pointer imported twice: %s; and the block: %s\n",
                mapped[0] == mapped[1] ? "the same address" : "two addresses",
                mapped[0] == block ? "the same address" : "another");
    for (const CUdeviceptr one : mapped)
        step("cuMemFreeAsync of an import", cuMemFreeAsync(one, nullptr));
    CHECK(cudaDeviceSynchronize());
    step("cuMemFreeAsync of an import once more", cuMemFreeAsync(mapped[0], nullptr));
    step("cuMemFree of the block", cuMemFree(block));
    step("cuMemPoolDestroy of the import", cuMemPoolDestroy(theirs));
    step("cuMemPoolDestroy", cuMemPoolDestroy(own));
}

} // namespace facts
