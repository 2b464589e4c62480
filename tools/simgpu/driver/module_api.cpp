// tools/simgpu/driver/module_api.cpp — modules and libraries: images are accepted, not read.
//
// So any kernel name is found, and a variable gets kUnknownGlobalBytes: a guess, as its size stands
// in the image.
#include "tools/simgpu/driver/allocation.hpp"
#include "tools/simgpu/driver/launch.hpp"

#include "api.hpp"

#include <cstdio>
#include <sys/mman.h>

namespace simgpu {

struct Module {
    std::atomic<bool> alive{false};
    bool library = false;
    Context* context = nullptr;
    std::uint64_t context_id = 0;
    std::map<std::string, Kernel*, std::less<>> kernels;
    std::map<std::string, CUdeviceptr, std::less<>> globals;
    std::map<std::string, CUdeviceptr, std::less<>> managed;
};

namespace {

constexpr std::size_t kUnknownGlobalBytes = std::size_t{64} << 10;

Slots<Module>& modules()
{
    static auto* all = new Slots<Module>;
    return *all;
}

std::mutex& module_mutex()
{
    static auto* mutex = new std::mutex;
    return *mutex;
}

Module* open_module(Context* context, bool library)
{
    Module* module = modules().make();
    module->library = library;
    module->context = context;
    module->context_id = context ? context->id : 0;
    return module;
}

CUresult load_file(const char* path)
{
    std::FILE* file = path ? std::fopen(path, "rb") : nullptr;
    if (!file)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    const bool empty = std::fgetc(file) == EOF;
    std::fclose(file);
    return empty ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

CUresult load_here(CUmodule* handle, CUresult image)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (image != CUDA_SUCCESS)
        return image;
    *handle = reinterpret_cast<CUmodule>(open_module(context, false));
    return CUDA_SUCCESS;
}

void close_module(Module& module)
{
    {
        const std::lock_guard lock(module_mutex());
        for (const auto& [name, kernel] : module.kernels)
            kernels().retire(kernel);
        module.kernels.clear();
        const std::lock_guard memory(memory_mutex());
        for (const auto& [name, address] : module.globals)
            if (Allocation* allocation = allocation_at_locked(address))
                if (allocation->kind == Kind::global)
                    drop_allocation_locked(*allocation);
        for (const auto& [name, address] : module.managed)
            if (Allocation* allocation = allocation_at_locked(address))
                drop_allocation_locked(*allocation);
        module.globals.clear();
        module.managed.clear();
    }
    modules().retire(&module);
}

CUresult find_kernel(Module* module, const char* name, Kernel*& kernel)
{
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!*name)
        return CUDA_ERROR_NOT_FOUND;
    const std::lock_guard lock(module_mutex());
    Kernel*& known = module->kernels[name];
    if (!known) {
        known = kernels().make();
        known->name = name;
        known->module = module;
        known->attributes.clear();
    }
    kernel = known;
    return CUDA_SUCCESS;
}

CUresult find_global(Module* module, const char* name, CUdeviceptr* address, std::size_t* bytes)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!*name)
        return CUDA_ERROR_NOT_FOUND;
    const std::lock_guard lock(module_mutex());
    const std::lock_guard memory(memory_mutex());
    CUdeviceptr& start = module->globals[name];
    const Allocation* living = start ? allocation_at_locked(start) : nullptr;
    if (!living) {
        Allocation made;
        made.start = context->device->take(kUnknownGlobalBytes);
        if (!made.start)
            return CUDA_ERROR_OUT_OF_MEMORY;
        made.bytes = kUnknownGlobalBytes;
        made.kind = Kind::global;
        made.device = context->device;
        made.context = context;
        start = made.start;
        living = &add_allocation_locked(made);
    }
    if (address)
        *address = living->start;
    if (bytes)
        *bytes = living->bytes;
    return CUDA_SUCCESS;
}

[[maybe_unused]] Module* library_of(const void* handle) // CUDA 11.8 has no libraries
{
    Module* module = modules().find(handle);
    return module && module->library ? module : nullptr;
}

} // namespace

namespace api {

CUresult cuModuleLoad(CUmodule* module, const char* fname)
{
    return load_here(module, load_file(fname));
}

CUresult cuModuleLoadData(CUmodule* module, const void* image)
{
    return load_here(module, image ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*,
                            void**)
{
    return api::cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin)
{
    return api::cuModuleLoadData(module, fatCubin);
}

CUresult cuModuleUnload(CUmodule hmod)
{
    Module* module = modules().find(hmod);
    if (!module || module->library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (module->context->id == module->context_id && module->context->alive.load())
        finish_all(*module->context);
    close_module(*module);
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 11070
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}
#endif

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name)
{
    if (!hfunc)
        return CUDA_ERROR_INVALID_VALUE;
    Kernel* kernel = nullptr;
    if (const CUresult error = find_kernel(modules().find(hmod), name, kernel))
        return error;
    *hfunc = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name)
{
    return find_global(modules().find(hmod), name, dptr, bytes);
}

CUresult cuModuleGetGlobal(CUdeviceptr_v1* dptr, unsigned int* bytes, CUmodule hmod,
                           const char* name)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    const CUresult result = api::cuModuleGetGlobal_v2(&address, &size, hmod, name);
    if (result == CUDA_SUCCESS && dptr)
        *dptr = static_cast<CUdeviceptr_v1>(address);
    if (result == CUDA_SUCCESS && bytes)
        *bytes = static_cast<unsigned>(size);
    return result;
}

#if CUDA_VERSION >= 12000
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                           unsigned int, CUlibraryOption*, void**, unsigned int)
{
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    *library = reinterpret_cast<CUlibrary>(open_module(nullptr, true));
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option*, void**,
                               unsigned int, CUlibraryOption*, void**, unsigned int)
{
    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = load_file(fileName))
        return error;
    *library = reinterpret_cast<CUlibrary>(open_module(nullptr, true));
    return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    Module* module = library_of(library);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    for (Context* context : contexts().all())
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

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name)
{
    return find_global(library_of(library), name, dptr, bytes);
}

// The host's pointer to a managed variable: memory that outlives contexts, as the library does.
CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name)
{
    Module* module = library_of(library);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!name || !*name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(module_mutex());
    CUdeviceptr& start = module->managed[name];
    if (!start) {
        void* const pages = mmap(nullptr, kUnknownGlobalBytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        const std::lock_guard memory(memory_mutex());
        Allocation allocation;
        allocation.start = reinterpret_cast<std::uintptr_t>(pages);
        allocation.bytes = kUnknownGlobalBytes;
        allocation.kind = Kind::managed;
        allocation.device = devices().front();
        start = add_allocation_locked(allocation).start;
    }
    if (dptr)
        *dptr = start;
    if (bytes)
        *bytes = kUnknownGlobalBytes;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel)
{
    if (!pFunc)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernels().find(kernel))
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
    const Kernel* known = kernels().find(kernel);
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
