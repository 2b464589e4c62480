// tests/corpus/programs/import_handle_unreleased.cu — a handle that came by file descriptor is
// never released; the exporter's own is.
// truth: verdict leaks
// truth: import function=import_page memory=imported_physical blocks=1
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void import_page(int fd)
{
    CUmemGenericAllocationHandle handle = 0;
    check(cuMemImportFromShareableHandle(&handle,
                                         reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
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
    import_page(fd);
    close(fd);
    check(cuMemRelease(handle));
}
