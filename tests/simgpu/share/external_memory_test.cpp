// tests/simgpu/share/external_memory_test.cpp — memory objects imported by file descriptor.
#include <fcntl.h>
#include <unistd.h>

#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/physical.hpp"

using namespace simgpu::test;

namespace {

int exported(size_t bytes)
{
    const auto handle = create_physical(bytes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    int file = -1;
    EXPECT_CU(
        cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT_CU(cuMemRelease(handle));
    return file;
}

CUDA_EXTERNAL_MEMORY_HANDLE_DESC description_of(int file, size_t bytes)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC made{};
    made.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    made.handle.fd = file;
    made.size = bytes;
    return made;
}

CUexternalMemory import(int file, size_t bytes)
{
    CUexternalMemory memory = nullptr;
    const auto description = description_of(file, bytes);
    EXPECT_CU(cuImportExternalMemory(&memory, &description));
    return memory;
}

CUresult map_buffer(CUexternalMemory memory, size_t offset, size_t bytes, CUdeviceptr* address)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
    buffer.offset = offset;
    buffer.size = bytes;
    return cuExternalMemoryGetMappedBuffer(address, memory, &buffer);
}

CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC mipmap_of(size_t side, unsigned levels)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC made{};
    made.arrayDesc.Width = side;
    made.arrayDesc.Height = side;
    made.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    made.arrayDesc.NumChannels = 1;
    made.numLevels = levels;
    return made;
}

} // namespace

TEST(ExternalMemory, BuffersOfOneObjectShareItsBytes)
{
    with_context([] {
        const CUexternalMemory memory = import(exported(4 * kMiB), 4 * kMiB);
        const size_t all = free_bytes();
        CUdeviceptr whole = 0;
        CUdeviceptr second_half = 0;
        ASSERT_CU(map_buffer(memory, 0, 4 * kMiB, &whole));
        ASSERT_CU(map_buffer(memory, 2 * kMiB, 2 * kMiB, &second_half));
        EXPECT_EQ(free_bytes(), all); // the bytes are the maker's
        ASSERT_CU(cuMemcpyHtoD(second_half, "e", 1));
        EXPECT_EQ(peek(whole + 2 * kMiB), 'e');
        size_t bytes = 0;
        CUdeviceptr base = 0;
        ASSERT_CU(cuMemGetAddressRange(&base, &bytes, second_half + 100));
        EXPECT_EQ(base, second_half);
        EXPECT_EQ(bytes, 2 * kMiB);
        ASSERT_CU(cuDestroyExternalMemory(memory)); // mapped buffers are freed by cuMemFree
        EXPECT_CU(cuMemcpyHtoD(whole, "x", 1));
        EXPECT_CU(cuMemFree(whole));
        EXPECT_CU(cuMemFree(second_half));
        EXPECT_EQ(cuMemFree(second_half), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
    });
}

TEST(ExternalMemory, TakesTheDescriptor)
{
    with_context([] {
        const int file = exported(2 * kMiB);
        import(file, 2 * kMiB);
        EXPECT_EQ(::fcntl(file, F_GETFD), -1);
    });
}

TEST(ExternalMemory, ImportsNothingElse)
{
    with_context([] {
        CUexternalMemory memory = nullptr;
        const int file = exported(2 * kMiB);
        auto description = description_of(file, 4 * kMiB);
        EXPECT_EQ(cuImportExternalMemory(&memory, &description), CUDA_ERROR_INVALID_VALUE);
        description = description_of(file, 0);
        EXPECT_EQ(cuImportExternalMemory(&memory, &description), CUDA_ERROR_INVALID_VALUE);
        description = description_of(0x7fffff, 2 * kMiB);
        EXPECT_EQ(cuImportExternalMemory(&memory, &description), CUDA_ERROR_INVALID_HANDLE);
        const int plain = ::open("/dev/null", O_RDWR);
        description = description_of(plain, 2 * kMiB);
        EXPECT_EQ(cuImportExternalMemory(&memory, &description), CUDA_ERROR_INVALID_HANDLE);
        description = description_of(file, 2 * kMiB);
        description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
        EXPECT_EQ(cuImportExternalMemory(&memory, &description), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuImportExternalMemory(&memory, nullptr), CUDA_ERROR_INVALID_VALUE);
        description = description_of(file, 2 * kMiB);
        EXPECT_EQ(cuImportExternalMemory(nullptr, &description), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(memory, nullptr);
        EXPECT_NE(::fcntl(file, F_GETFD), -1); // it still belongs to the caller
    });
}

TEST(ExternalMemory, BuffersLieInside)
{
    with_context([] {
        const CUexternalMemory memory = import(exported(2 * kMiB), 2 * kMiB);
        CUdeviceptr address = 77;
        EXPECT_EQ(map_buffer(memory, 0, 0, &address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(map_buffer(memory, kMiB, 2 * kMiB, &address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(map_buffer(memory, SIZE_MAX, 2, &address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(map_buffer(memory, 0, kMiB, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuExternalMemoryGetMappedBuffer(&address, memory, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(map_buffer(nullptr, 0, kMiB, &address), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(address, 77u);
    });
}

TEST(ExternalMemory, MappedAsAMipmapIsFreedAsOne)
{
    with_context([] {
        const CUexternalMemory memory = import(exported(4 * kMiB), 4 * kMiB);
        const size_t all = free_bytes();
        CUdeviceptr whole = 0;
        ASSERT_CU(map_buffer(memory, 0, 4 * kMiB, &whole));
        const auto wanted = mipmap_of(512, 2);
        CUmipmappedArray mipmap = nullptr;
        ASSERT_CU(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &wanted));
        CUarray level = nullptr;
        ASSERT_CU(cuMipmappedArrayGetLevel(&level, mipmap, 0));
        EXPECT_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
        CUDA_MEMCPY2D copy{};
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = "m";
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = level;
        copy.WidthInBytes = 1;
        copy.Height = 1;
        ASSERT_CU(cuMemcpy2D(&copy));
        EXPECT_EQ(peek(whole), 'm');
        EXPECT_EQ(free_bytes(), all);
        EXPECT_CU(cuMipmappedArrayDestroy(mipmap));
        EXPECT_EQ(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
        const auto too_large = mipmap_of(4096, 1);
        EXPECT_EQ(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &too_large),
                  CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(ExternalMemory, GoesWithItsContextAndSoDoItsBuffers)
{
    before_init({}, [] {
        ASSERT_CU(cuInit(0));
        const CUcontext doomed = create_context();
        const CUexternalMemory memory = import(exported(2 * kMiB), 2 * kMiB);
        CUdeviceptr address = 0;
        ASSERT_CU(map_buffer(memory, 0, 2 * kMiB, &address));
        ASSERT_CU(cuCtxDestroy(doomed));
        create_context();
        EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
    });
}
