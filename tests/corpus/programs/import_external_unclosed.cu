// tests/corpus/programs/import_external_unclosed.cu — external memory: its mapped buffer is freed,
// the object is not destroyed.
// truth: verdict leaks
// truth: import function=import_texture memory=external blocks=1 bytes=2MiB
#include "tests/corpus/corpus.hpp"

CUexternalMemory import_texture(int fd)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
    description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    description.handle.fd = fd;
    description.size = 2_MiB;
    CUexternalMemory memory = nullptr;
    check(cuImportExternalMemory(&memory, &description));
    return memory;
}

int main()
{
    check(cudaSetDevice(0));
    CUmemAllocationProp properties = on_device();
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle = 0;
    int fd = -1;
    check(cuMemCreate(&handle, 2_MiB, &properties, 0));
    check(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const CUexternalMemory memory = import_texture(fd);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC range{};
    range.size = 1_MiB;
    CUdeviceptr buffer = 0;
    check(cuExternalMemoryGetMappedBuffer(&buffer, memory, &range));
    check(cuMemFree(buffer));
    check(cuMemRelease(handle));
}
