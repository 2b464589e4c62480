// tests/simgpu/module/link_test.cpp — the linker of device code, and options of the compiler.
#include <algorithm>
#include <cstdint>
#include <elf.h>
#include <iterator>

#include "tests/simgpu/driver.hpp"

using namespace simgpu::test;

namespace {

char ptx[] = ".version 9.0\n.target sm_75\n";

CUlinkState create_link()
{
    CUlinkState link = nullptr;
    EXPECT_CU(cuLinkCreate(0, nullptr, nullptr, &link));
    return link;
}

CUresult add(CUlinkState link, CUjitInputType type, void* data, size_t bytes)
{
    return cuLinkAddData(link, type, data, bytes, "input", 0, nullptr, nullptr);
}

} // namespace

TEST(Link, MakesACubinThatCanBeLoaded)
{
    with_context([] {
        const CUlinkState link = create_link();
        ASSERT_CU(add(link, CU_JIT_INPUT_PTX, ptx, sizeof ptx));
        void* cubin = nullptr;
        size_t bytes = 0;
        ASSERT_CU(cuLinkComplete(link, &cubin, &bytes));
        ASSERT_GE(bytes, sizeof(Elf64_Ehdr));
        EXPECT_EQ(std::string(static_cast<char*>(cubin), SELFMAG), ELFMAG);
        CUmodule module = nullptr;
        CUfunction kernel = nullptr;
        int version = 0;
        ASSERT_CU(cuModuleLoadData(&module, cubin));
        ASSERT_CU(cuLinkDestroy(link));
        ASSERT_CU(cuModuleGetFunction(&kernel, module, "kernel"));
        ASSERT_CU(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_BINARY_VERSION, kernel));
        EXPECT_EQ(version, 90);
        EXPECT_CU(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    });
}

TEST(Link, RefusesWhatIsNoInput)
{
    with_context([] {
        const CUlinkState link = create_link();
        EXPECT_EQ(add(link, CU_JIT_INPUT_PTX, nullptr, 8), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(add(link, CU_JIT_NUM_INPUT_TYPES, ptx, sizeof ptx), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, "/nowhere/at.all", 0, nullptr, nullptr),
                  CUDA_ERROR_FILE_NOT_FOUND);
        EXPECT_CU(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/proc/self/exe", 0, nullptr, nullptr));
        EXPECT_EQ(cuLinkComplete(link, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Link, IsGoneOnceDestroyed)
{
    with_context([] {
        const CUlinkState link = create_link();
        ASSERT_CU(cuLinkDestroy(link));
        EXPECT_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(add(link, CU_JIT_INPUT_PTX, ptx, sizeof ptx), CUDA_ERROR_INVALID_HANDLE);
        void* cubin = ptx;
        EXPECT_EQ(cuLinkComplete(link, &cubin, nullptr), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cubin, ptx);
    });
}

// A program prints these buffers later, so they must hold a text, and the sizes must be right.
TEST(Link, AnswersTheOptionsThatAreRead)
{
    with_context([] {
        char info[16] = "left over";
        char errors[16] = "left over";
        CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                                  CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                  CU_JIT_WALL_TIME};
        void* const given[] = {reinterpret_cast<void*>(sizeof info), info, errors,
                               reinterpret_cast<void*>(sizeof errors),
                               reinterpret_cast<void*>(std::uintptr_t{77})};
        const auto expect_answered = [&](void** values) {
            EXPECT_STREQ(info, "");
            EXPECT_STREQ(errors, "");
            EXPECT_EQ(values[0], nullptr);
            EXPECT_EQ(values[3], nullptr);
            EXPECT_EQ(values[4], nullptr);
        };
        void* values[5];
        std::copy(std::begin(given), std::end(given), values);
        CUlinkState link = nullptr;
        ASSERT_CU(cuLinkCreate(5, options, values, &link));
        expect_answered(values);
        std::copy(std::begin(given), std::end(given), values);
        info[0] = errors[0] = 'x';
        CUmodule module = nullptr;
        ASSERT_CU(cuModuleLoadDataEx(&module, ptx, 5, options, values));
        expect_answered(values);
        EXPECT_EQ(cuModuleLoadDataEx(&module, ptx, 5, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    });
}
