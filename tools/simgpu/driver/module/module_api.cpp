// tools/simgpu/driver/module/module_api.cpp — cuModule*: images loaded into a context.
#include "api.hpp"
#include "tools/simgpu/driver/base/narrowed.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/module/jit.hpp"
#include "tools/simgpu/driver/module/module.hpp"

namespace simgpu {
namespace {

CUresult load_here(Context& context, CUmodule* handle, const void* image)
{
    if (!handle || !image)
        return CUDA_ERROR_INVALID_VALUE;
    OwnBytes own;
    if (!own.take(context, object_bytes().module))
        return CUDA_ERROR_OUT_OF_MEMORY;
    Module* const module = open_module(&context, image);
    module->own = own;
    *handle = reinterpret_cast<CUmodule>(module);
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuModuleLoad(Context& context, CUmodule* module, const char* fname)
{
    std::vector<char> image;
    const CUresult error = read_image(fname, image);
    return error != CUDA_SUCCESS ? error : load_here(context, module, image.data());
}

CUresult cuModuleLoadData(Context& context, CUmodule* module, const void* image)
{
    return load_here(context, module, image);
}

CUresult cuModuleLoadFatBinary(Context& context, CUmodule* module, const void* fatCubin)
{
    return load_here(context, module, fatCubin);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                            CUjit_option* options, void** optionValues)
{
    const CUresult error = answer_jit_options(numOptions, options, optionValues);
    return error != CUDA_SUCCESS ? error : in_current_context(load_here, module, image);
}

CUresult cuModuleUnload(CUmodule hmod)
{
    Module* module = slots<Module>().find(hmod);
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
    if (const CUresult error = find_kernel(slots<Module>().find(hmod), name, kernel))
        return error;
    *hfunc = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(Context& context, CUdeviceptr* dptr, size_t* bytes, CUmodule hmod,
                              const char* name)
{
    return find_global(context, slots<Module>().find(hmod), name, dptr, bytes);
}

CUresult cuModuleGetGlobal(Context& context, CUdeviceptr_v1* dptr, unsigned int* bytes,
                           CUmodule hmod, const char* name)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    const CUresult result = api::cuModuleGetGlobal_v2(context, &address, &size, hmod, name);
    narrowed(result, dptr, address);
    return narrowed(result, bytes, size);
}

} // namespace api
} // namespace simgpu
