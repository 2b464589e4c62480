// tools/simgpu/driver/module/library_api.cpp — cuLibrary*, cuKernel*: images for every context.
#include <sys/mman.h>

#include "api.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/module/module.hpp"

#if CUDA_VERSION >= 12000
namespace simgpu {
namespace {

Module* library_of(const void* handle)
{
    Module* module = slots<Module>().find(handle);
    return module && module->library ? module : nullptr;
}

CUresult load(CUlibrary* handle, const void* image)
{
    OwnBytes own;
    Context* context = nullptr;
    if (current_context(context) == CUDA_SUCCESS && !own.take(*context, object_bytes().library))
        return CUDA_ERROR_OUT_OF_MEMORY;
    Module* const module = open_module(nullptr, image);
    module->own = own;
    *handle = reinterpret_cast<CUlibrary>(module);
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                           unsigned int, CUlibraryOption*, void**, unsigned int)
{
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    return load(library, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option*, void**,
                               unsigned int, CUlibraryOption*, void**, unsigned int)
{
    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<char> image;
    if (const CUresult error = read_image(fileName, image))
        return error;
    return load(library, image.data());
}

CUresult cuLibraryUnload(CUlibrary library)
{
    Module* module = library_of(library);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    for (Context* context : slots<Context>().all())
        finish_all(*context);
    close_module(*module);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name)
{
    if (!pKernel)
        return CUDA_ERROR_INVALID_VALUE;
    Kernel* kernel = nullptr;
    if (const CUresult error = find_kernel(library_of(library), name, kernel))
        return error;
    *pKernel = reinterpret_cast<CUkernel>(kernel);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library)
{
    if (!pMod)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library_of(library))
        return CUDA_ERROR_INVALID_HANDLE;
    *pMod = reinterpret_cast<CUmodule>(library);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(Context& context, CUdeviceptr* dptr, size_t* bytes, CUlibrary library,
                            const char* name)
{
    return find_global(context, library_of(library), name, dptr, bytes);
}

// The host's pointer to a managed variable. Its memory outlives contexts, as the library does.
CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name)
{
    Module* module = library_of(library);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name || !*name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(module_mutex());
    CUdeviceptr& start = module->managed[name];
    const std::size_t size = bytes_of_variable(name);
    if (!start) {
        void* const pages =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        const std::lock_guard memory(memory_mutex());
        start = add_allocation_locked({.start = reinterpret_cast<std::uintptr_t>(pages),
                                       .bytes = size,
                                       .kind = Kind::managed,
                                       .device = devices().front()})
                    .start;
    }
    if (dptr)
        *dptr = start;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel)
{
    if (!pFunc)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    *pFunc = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    return device_at(dev)
               ? api::cuFuncGetAttribute(pi, attrib, reinterpret_cast<CUfunction>(kernel))
               : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    return device_at(dev)
               ? api::cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attrib, val)
               : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    return device_at(dev) ? api::cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config)
                          : CUDA_ERROR_INVALID_DEVICE;
}

#if CUDA_VERSION >= 12040
// Only the kernels that were asked for by name are known, as the image is not read.
CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib)
{
    const Module* const module = library_of(lib);
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    const std::lock_guard lock(module_mutex());
    *count = static_cast<unsigned>(module->kernels.size());
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib)
{
    const Module* const module = library_of(lib);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!kernels)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(module_mutex());
    unsigned index = 0;
    for (const auto& [name, kernel] : module->kernels)
        if (index < numKernels)
            kernels[index++] = reinterpret_cast<CUkernel>(kernel);
    return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12030
CUresult cuKernelGetName(const char** name, CUkernel hfunc)
{
    return api::cuFuncGetName(name, reinterpret_cast<CUfunction>(hfunc));
}
#endif

#if CUDA_VERSION >= 12050
CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel)
{
    const Kernel* known = slots<Kernel>().find(kernel);
    if (!pLib)
        return CUDA_ERROR_INVALID_VALUE;
    if (!known || !known->module->library)
        return CUDA_ERROR_INVALID_HANDLE;
    *pLib = reinterpret_cast<CUlibrary>(known->module);
    return CUDA_SUCCESS;
}
#endif

} // namespace api
} // namespace simgpu
#endif
