// tests/simgpu/share/ipc_test.cpp — device memory seen from another process.
#include "tests/simgpu/driver.hpp"
#include "tests/simgpu/pipe.hpp"

using namespace simgpu::test;

namespace {

void make_context()
{
    ASSERT_CU(cuInit(0));
    create_context();
}

} // namespace

TEST(Ipc, BothProcessesSeeTheSameBytes)
{
    const Pipe handles;
    const Pipe replies;
    before_init({}, [&] {
        const pid_t importer = vramscope::test::start_child([&] {
            make_context();
            const size_t all = free_bytes();
            const auto handle = handles.receive<CUipcMemHandle>();
            CUdeviceptr address = 0;
            CUdeviceptr again = 0;
            ASSERT_CU(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            ASSERT_CU(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            EXPECT_EQ(again, address);
            EXPECT_EQ(free_bytes(), all);
            EXPECT_EQ(peek(address), 'e');
            ASSERT_CU(cuMemcpyHtoD(address, "i", 1));
            EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_VALUE);
            CUdeviceptr without_flag = 77;
            EXPECT_EQ(cuIpcOpenMemHandle(&without_flag, handle, 0), CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(without_flag, 77u);
            // Another context opens the memory for itself, and its end closes it again.
            const CUcontext other = create_context();
            CUdeviceptr others = 0;
            ASSERT_CU(cuIpcOpenMemHandle(&others, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            EXPECT_NE(others, address);
            ASSERT_CU(cuCtxDestroy(other));
            EXPECT_EQ(cuIpcCloseMemHandle(others), CUDA_ERROR_INVALID_VALUE);
            EXPECT_CU(cuIpcCloseMemHandle(address));
            EXPECT_CU(cuIpcCloseMemHandle(address));
            EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
            replies.send('k');
        });
        make_context();
        allocate(700); // so that the shared block does not start a page
        const CUdeviceptr address = allocate(5000);
        ASSERT_CU(cuMemcpyHtoD(address, "e", 1));
        CUipcMemHandle handle{};
        ASSERT_CU(cuIpcGetMemHandle(&handle, address));
        handles.send(handle);
        EXPECT_EQ(replies.receive<char>(), 'k');
        EXPECT_EQ(peek(address), 'i');
        EXPECT_EQ(vramscope::test::wait_for(importer), 0);
    });
}

TEST(Ipc, ExportsTheWholeBlockAndRefusesItsOwnHandles)
{
    with_context([] {
        const CUdeviceptr address = allocate(4 * kMiB);
        CUipcMemHandle whole{};
        CUipcMemHandle inner{};
        ASSERT_CU(cuIpcGetMemHandle(&whole, address));
        ASSERT_CU(cuIpcGetMemHandle(&inner, address + 100));
        EXPECT_EQ(std::string(whole.reserved, sizeof whole),
                  std::string(inner.reserved, sizeof inner));
        CUdeviceptr opened = 77;
        EXPECT_EQ(cuIpcOpenMemHandle(&opened, whole, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                  CUDA_ERROR_INVALID_CONTEXT);
        CUipcMemHandle garbage{};
        EXPECT_EQ(cuIpcOpenMemHandle(&opened, garbage, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(opened, 77u);
        CUdeviceptr pooled = 0;
        ASSERT_CU(cuMemAllocAsync(&pooled, kMiB, nullptr));
        EXPECT_EQ(cuIpcGetMemHandle(&whole, pooled), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(Ipc, ReallocatedMemoryHasAnotherHandle)
{
    with_context([] {
        const CUdeviceptr address = allocate(4 * kMiB);
        CUipcMemHandle before{};
        CUipcMemHandle after{};
        ASSERT_CU(cuIpcGetMemHandle(&before, address));
        ASSERT_CU(cuMemFree(address));
        ASSERT_EQ(allocate(4 * kMiB), address);
        ASSERT_CU(cuIpcGetMemHandle(&after, address));
        EXPECT_NE(std::string(before.reserved, sizeof before),
                  std::string(after.reserved, sizeof after));
    });
}
