// tests/programs/memory/imports.cpp — memory of others, and memory that others can open.
//
// Linked with -lcuda. Each scene leaves one thing open and closes another of its kind. Each makes
// its context when it is ready to: that of ipc forks before.
//
// Usage: imports SCENE. A scene that the toolkit's headers are too old for ends with status 4.
#include <cstdint>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/memory/shareable.hpp"

namespace {

void* as_handle(int fd)
{
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
}

CUmemGenericAllocationHandle shareable()
{
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = kFd;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    check(cuMemCreate(&handle, kPhysical, &prop, 0));
    return handle;
}

int exported(CUmemGenericAllocationHandle handle)
{
    int fd = -1;
    check(cuMemExportToShareableHandle(&fd, handle, kFd, 0));
    return fd;
}

// Another process, which makes something, gives its handle away, and ends it when it may. It forks
// first: a context does not outlive that.
template <class Handle>
class OtherProcess {
public:
    template <class Make, class End>
    OtherProcess(Make make, End end)
    {
        int ready[2];
        check(pipe(ready) == 0 && pipe(done_) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
        process_ = fork();
        if (process_ == 0) {
            close(done_[1]); // else it waits for itself where the other ends early
            primary_context();
            auto made = make(handle);
            (void)!write(ready[1], &handle, sizeof handle);
            char byte = 0;
            (void)!read(done_[0], &byte, 1);
            end(made);
            std::exit(0);
        }
        close(ready[1]); // it may end without a word
        check(read(ready[0], &handle, sizeof handle) == sizeof handle ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_UNKNOWN);
    }
    void may_end()
    {
        (void)!write(done_[1], "", 1);
        waitpid(process_, nullptr, 0);
    }

    Handle handle{};

private:
    int done_[2];
    pid_t process_;
};

// Opened twice, it is one address, and to be closed twice. A process cannot open its own: a child
// shares.
template <auto open>
void ipc()
{
    OtherProcess<CUipcMemHandle> owner(
        [](CUipcMemHandle& handle) {
            CUdeviceptr block = 0;
            check(cuMemAlloc_v2(&block, kPhysical)); // MARK ipc_owner
            check(cuIpcGetMemHandle(&handle, block));
            return block;
        },
        [](CUdeviceptr block) { check(cuMemFree_v2(block)); });
    primary_context();
    CUdeviceptr first = 0, again = 0;
    check(open(&first, owner.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)); // MARK ipc_first
    check(open(&again, owner.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)); // MARK ipc_again
    check(cuIpcCloseMemHandle(again));
    owner.may_end();
}

// A child's event, which it destroys when it was opened here.
void ipc_event()
{
    OtherProcess<CUipcEventHandle> owner(
        [](CUipcEventHandle& handle) {
            CUevent made = nullptr;
            check(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
            check(cuIpcGetEventHandle(&handle, made));
            return made;
        },
        [](CUevent made) { check(cuEventDestroy_v2(made)); });
    primary_context();
    CUevent opened[2];
    for (CUevent& event : opened)
        check(cuIpcOpenEventHandle(&event, owner.handle));
    check(cuEventDestroy_v2(opened[0]));
    owner.may_end();
}

void external()
{
    primary_context();
    const CUmemGenericAllocationHandle memory = shareable();
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC import{};
    import.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    import.size = kPhysical;
    CUexternalMemory imported[2];
    for (CUexternalMemory& one : imported) {
        import.handle.fd = exported(memory);
        check(cuImportExternalMemory(&one, &import)); // MARK external
    }
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
    buffer.size = kBytes;
    CUexternalMemory from = imported[0];
    CUdeviceptr blocks[2];
    for (CUdeviceptr& one : blocks)
        check(cuExternalMemoryGetMappedBuffer(&one, from, &buffer)); // MARK external_buffer
    check(cuMemFree_v2(blocks[0]));
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image{};
    image.arrayDesc = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    image.numLevels = 1;
    CUmipmappedArray images[2];
    const auto map_image = cuExternalMemoryGetMappedMipmappedArray;
    for (CUmipmappedArray& one : images)
        check(map_image(&one, from, &image)); // MARK external_image
    check(cuMipmappedArrayDestroy(images[0]));
    check(cuDestroyExternalMemory(imported[1]));
    check(cuMemRelease(memory));
}

void imported_pool()
{
    primary_context();
    const CUmemPoolProps props = pool_props();
    CUmemoryPool own = nullptr;
    CUdeviceptr blocks[2];
    int fd = -1;
    CUmemPoolPtrExportData data[2]{};
    check(cuMemPoolCreate(&own, &props));
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocFromPoolAsync(&block, kBytes, own, nullptr));
    check(cuStreamSynchronize(nullptr));
    check(cuMemPoolExportToShareableHandle(&fd, own, kFd, 0));
    for (int i = 0; i < 2; ++i)
        check(cuMemPoolExportPointer(&data[i], blocks[i]));
    CUmemoryPool theirs = nullptr;
    CUdeviceptr mapped[3];
    check(cuMemPoolImportFromShareableHandle(&theirs, as_handle(fd), kFd, 0)); // MARK imported_pool
    for (int i = 0; i < 3; ++i) // the first one twice: it has one address, and one free ends it
        check(cuMemPoolImportPointer(&mapped[i], theirs, &data[i / 2])); // MARK imported_pointer
    if (mapped[0] != mapped[1])
        std::exit(4);
    check(cuMemFreeAsync(mapped[0], nullptr));
    check(cuStreamSynchronize(nullptr));
    for (const CUdeviceptr block : blocks)
        check(cuMemFree_v2(block));
    check(cuMemPoolDestroy(own));
}

void imported_physical()
{
    primary_context();
    const CUmemGenericAllocationHandle memory = shareable();
    CUmemGenericAllocationHandle imported[2];
    for (CUmemGenericAllocationHandle& one : imported) {
        void* const fd = as_handle(exported(memory));
        check(cuMemImportFromShareableHandle(&one, fd, kFd)); // MARK import
    }
    check(cuMemRelease(imported[0]));
    check(cuMemRelease(memory));
}

void multicast()
{
#if CUDA_VERSION >= 12010
    primary_context();
    CUmulticastObjectProp prop{};
    prop.numDevices = 1;
    prop.size = kPhysical;
    prop.handleTypes = kFd;
    CUmemGenericAllocationHandle objects[2];
    for (CUmemGenericAllocationHandle& object : objects)
        check(cuMulticastCreate(&object, &prop)); // MARK multicast
    check(cuMemRelease(objects[0]));
#else
    too_old();
#endif
}

// Each way to give memory a name that others can open; the block stays.
void shared()
{
    primary_context();
    CUdeviceptr block = 0;
    CUipcMemHandle handle{};
    int fd = -1;
    check(cuMemAlloc_v2(&block, kPhysical)); // MARK shared
    check(cuIpcGetMemHandle(&handle, block));
    check(cuMemGetHandleForAddressRange(&fd, block, kPhysical, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                        0));
    close(fd);
}

const Scene kScenes[] = {
    {"ipc_v1", ipc<cuIpcOpenMemHandle>},
    {"ipc_v2", ipc<cuIpcOpenMemHandle_v2>},
    {"ipc_event", ipc_event},
    {"external", external},
    {"imported_pool", imported_pool},
    {"imported_physical", imported_physical},
    {"multicast", multicast},
    {"shared", shared},
};

} // namespace

int main(int argc, char** argv)
{
    return play_scene(kScenes, argc, argv);
}
