// tools/simgpu/driver/share/external_memory_api.cpp — memory of other APIs, by file descriptor.
//
// The only maker here is cuMemExportToShareableHandle, in this or another process. The memory stays
// its maker's, so none of it is counted here.
#include <sys/stat.h>
#include <unistd.h>

#include "api.hpp"
#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/share/share.hpp"

namespace simgpu {
namespace {

struct External {
    std::atomic<bool> alive{false};
    Device* device = nullptr;
    Context* context = nullptr; // the object ends with it
    int file = -1;
    std::uint64_t bytes = 0;
};

void close_external(External& external)
{
    close(external.file); // mappings stay until they are freed
    slots<External>().retire(&external);
}

bool inside(const External& external, std::uint64_t offset, std::uint64_t bytes)
{
    return bytes > 0 && offset <= external.bytes && bytes <= external.bytes - offset;
}

CUresult check(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description)
{
    if (description.size == 0 ||
        (description.flags & ~static_cast<unsigned>(CUDA_EXTERNAL_MEMORY_DEDICATED)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    switch (description.type) {
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD:
        return CUDA_SUCCESS;
#if CUDA_VERSION >= 13000
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD: // for Tegra only
        return CUDA_ERROR_NOT_SUPPORTED;
#endif
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

} // namespace

void free_external_memory_of(Context& context)
{
    for (External* external : slots<External>().all())
        if (external->context == &context)
            close_external(*external);
}

namespace api {

CUresult cuImportExternalMemory(Context& context, CUexternalMemory* extMem_out,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* memHandleDesc)
{
    if (!extMem_out || !memHandleDesc)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check(*memHandleDesc))
        return error;
    const int given = memHandleDesc->handle.fd;
    Device* const device = device_of_memory_file(given);
    struct stat status;
    if (!device || fstat(given, &status) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (memHandleDesc->size > static_cast<std::uint64_t>(status.st_size))
        return CUDA_ERROR_INVALID_VALUE;
    int file = -1;
    if (const CUresult error = duplicate_file(given, file))
        return error;
    close(given); // the driver owns it now
    External* const made = slots<External>().make();
    made->device = device;
    made->context = &context;
    made->file = file;
    made->bytes = memHandleDesc->size;
    *extMem_out = reinterpret_cast<CUexternalMemory>(made);
    return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(Context& context, CUdeviceptr* devPtr,
                                         CUexternalMemory extMem,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* bufferDesc)
{
    External* const external = slots<External>().find(extMem);
    if (!external)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!devPtr || !bufferDesc || bufferDesc->flags != 0 ||
        !inside(*external, bufferDesc->offset, bufferDesc->size))
        return CUDA_ERROR_INVALID_VALUE;
    return map_foreign(external->file, bufferDesc->offset, bufferDesc->size, Kind::external,
                       *external->device, &context, *devPtr);
}

CUresult
cuExternalMemoryGetMappedMipmappedArray(Context& context, CUmipmappedArray* mipmap,
                                        CUexternalMemory extMem,
                                        const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* mipmapDesc)
{
    External* const external = slots<External>().find(extMem);
    if (!external)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!mipmap || !mipmapDesc || mipmapDesc->numLevels == 0)
        return CUDA_ERROR_INVALID_VALUE;
    Mipmap* made = nullptr;
    if (const CUresult error =
            open_mipmap(context, mipmapDesc->arrayDesc, mipmapDesc->numLevels, made))
        return error;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr start = 0;
    if (inside(*external, mipmapDesc->offset, made->bytes()))
        result = map_foreign(external->file, mipmapDesc->offset, made->bytes(),
                             Kind::external_array, *external->device, nullptr, start);
    if (result != CUDA_SUCCESS) {
        close_mipmap(*made);
        return result;
    }
    made->foreign = start;
    for (Array* level : made->levels) {
        level->start = start;
        start += level->bytes;
    }
    *mipmap = reinterpret_cast<CUmipmappedArray>(made);
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalMemory(Context&, CUexternalMemory extMem)
{
    External* const external = slots<External>().find(extMem);
    if (!external)
        return CUDA_ERROR_INVALID_HANDLE;
    close_external(*external);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
