// tools/simgpu/runtime/image.cpp — nvcc's registration stubs; images are loaded when first used.
#include "tools/simgpu/runtime/image.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace simgpu::runtime {
namespace {

struct ManagedVariable {
    void** host_pointer;
    std::string name;
    size_t bytes;
};

#if CUDART_VERSION >= 12000
using Library = CUlibrary;
#else
using Library = CUmodule;
#endif

struct Image {
    const void* data = nullptr;
    Library library = nullptr;
    std::vector<ManagedVariable> managed;
};

struct Symbol {
    Image* image;
    std::string name;
    size_t bytes;
};

struct Registry {
    std::mutex mutex;
    std::vector<Image*> images;
    std::map<const void*, Symbol> kernels;
    std::map<const void*, Symbol> variables;
    std::map<const void*, CUfunction> functions;
};

Registry& registry()
{
    static auto* all = new Registry;
    return *all;
}

// What nvcc's code hands over: a wrapper whose third word is the image.
struct FatBinaryWrapper {
    int magic;
    int version;
    const void* data;
    void* file_name;
};

// The simulated driver does not read the size of its variables in the image.
void tell_sizes(const Driver& driver, const Image& image)
{
    if (!driver.set_variable_bytes)
        return;
    for (const ManagedVariable& variable : image.managed)
        driver.set_variable_bytes(variable.name.c_str(), variable.bytes);
    for (const auto& [host_variable, variable] : registry().variables)
        if (variable.image == &image)
            driver.set_variable_bytes(variable.name.c_str(), variable.bytes);
}

CUresult load(const Driver& driver, Image& image)
{
    if (image.library)
        return CUDA_SUCCESS;
    tell_sizes(driver, image);
#if CUDART_VERSION >= 12000
    return driver.cuLibraryLoadData(&image.library, image.data, nullptr, nullptr, 0, nullptr,
                                    nullptr, 0);
#else
    return driver.cuModuleLoadData(&image.library, image.data);
#endif
}

void unload(const Driver& driver, Image& image)
{
    if (!image.library)
        return;
#if CUDART_VERSION >= 12000
    driver.cuLibraryUnload(image.library);
#else
    driver.cuModuleUnload(image.library);
#endif
    image.library = nullptr;
}

CUresult get_function(const Driver& driver, const Symbol& kernel, CUfunction& function)
{
    if (const CUresult error = load(driver, *kernel.image))
        return error;
#if CUDART_VERSION >= 12000
    CUkernel found = nullptr;
    const CUresult result =
        driver.cuLibraryGetKernel(&found, kernel.image->library, kernel.name.c_str());
    function = reinterpret_cast<CUfunction>(found);
    return result;
#else
    return driver.cuModuleGetFunction(&function, kernel.image->library, kernel.name.c_str());
#endif
}

} // namespace

CUresult function_of(const Driver& driver, const void* stub, CUfunction& function)
{
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto known = all.functions.find(stub);
    if (known != all.functions.end()) {
        function = known->second;
        return CUDA_SUCCESS;
    }
    const auto kernel = all.kernels.find(stub);
    if (kernel == all.kernels.end()) {
        // It is a cudaKernel_t or a cudaFunction_t.
        function = static_cast<CUfunction>(const_cast<void*>(stub));
        return stub ? CUDA_SUCCESS : result_of(cudaErrorInvalidDeviceFunction);
    }
    if (const CUresult error = get_function(driver, kernel->second, function))
        return error;
    all.functions.emplace(stub, function);
    return CUDA_SUCCESS;
}

void* stub_of(CUfunction function)
{
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto known =
        std::find_if(all.functions.begin(), all.functions.end(),
                     [function](const auto& entry) { return entry.second == function; });
    return known == all.functions.end() ? static_cast<void*>(function)
                                        : const_cast<void*>(known->first);
}

CUresult symbol_of(const Driver& driver, const void* symbol, CUdeviceptr& address, size_t& bytes)
{
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto variable = all.variables.find(symbol);
    if (variable == all.variables.end())
        return result_of(cudaErrorInvalidSymbol);
    const Symbol& found = variable->second;
    if (const CUresult error = load(driver, *found.image))
        return error;
    bytes = found.bytes;
#if CUDART_VERSION >= 12000
    return driver.cuLibraryGetGlobal(&address, nullptr, found.image->library, found.name.c_str());
#else
    return driver.cuModuleGetGlobal(&address, nullptr, found.image->library, found.name.c_str());
#endif
}

CUresult part_of_symbol(const Driver& driver, const void* symbol, size_t offset, size_t count,
                        CUdeviceptr& address)
{
    size_t bytes = 0;
    if (const CUresult error = symbol_of(driver, symbol, address, bytes))
        return error;
    address += offset;
    return offset > bytes || count > bytes - offset ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

void unload_images(const Driver& driver)
{
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.functions.clear();
    for (Image* image : all.images)
        unload(driver, *image);
}

} // namespace simgpu::runtime

using namespace simgpu::runtime;

SIMGPU_RUNTIME void** __cudaRegisterFatBinary(void* fatCubin);
SIMGPU_RUNTIME void** __cudaRegisterFatBinary(void* fatCubin)
{
    auto* image = new Image;
    image->data = static_cast<const FatBinaryWrapper*>(fatCubin)->data;
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.images.push_back(image);
    return reinterpret_cast<void**>(image);
}

SIMGPU_RUNTIME void __cudaRegisterFatBinaryEnd(void** handle);
SIMGPU_RUNTIME void __cudaRegisterFatBinaryEnd(void**) {}

// Called by an atexit handler of the program, before our destructor; the driver is still there.
SIMGPU_RUNTIME void __cudaUnregisterFatBinary(void** handle);
SIMGPU_RUNTIME void __cudaUnregisterFatBinary(void** handle)
{
    auto* const image = reinterpret_cast<Image*>(handle);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto of_image = [image](const auto& entry) { return entry.second.image == image; };
    for (const auto& [stub, kernel] : all.kernels)
        if (kernel.image == image)
            all.functions.erase(stub);
    std::erase_if(all.kernels, of_image);
    std::erase_if(all.variables, of_image);
    std::erase(all.images, image);
    if (const Driver* const driver = opened_driver())
        unload(*driver, *image);
    delete image;
}

SIMGPU_RUNTIME void __cudaRegisterFunction(void** handle, const char* stub, char* device_function,
                                           const char* name, int thread_limit, void* thread_id,
                                           void* block_id, void* block_size, void* grid_size,
                                           int* warp_size);
SIMGPU_RUNTIME void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name,
                                           int, void*, void*, void*, void*, int*)
{
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.kernels[stub] = {reinterpret_cast<Image*>(handle), name, 0};
}

SIMGPU_RUNTIME void __cudaRegisterVar(void** handle, char* host_variable, char* device_address,
                                      const char* name, int is_extern, size_t bytes,
                                      int is_constant, int is_global);
SIMGPU_RUNTIME void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name,
                                      int, size_t bytes, int, int)
{
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.variables[host_variable] = {reinterpret_cast<Image*>(handle), name, bytes};
}

SIMGPU_RUNTIME void __cudaRegisterHostVar(void** handle, const char* name, char* host_variable,
                                          size_t bytes);
SIMGPU_RUNTIME void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

SIMGPU_RUNTIME void __cudaRegisterManagedVar(void** handle, void** host_pointer,
                                             char* device_address, const char* name, int is_extern,
                                             size_t bytes, int is_constant, int is_global);
SIMGPU_RUNTIME void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                             const char* name, int, size_t bytes, int, int)
{
    const std::lock_guard lock(registry().mutex);
    reinterpret_cast<Image*>(handle)->managed.push_back({host_pointer, name, bytes});
}

// Called before the program first uses a managed variable, whose pointer must lead
// to managed memory.
SIMGPU_RUNTIME char __cudaInitModule(void** handle);
SIMGPU_RUNTIME char __cudaInitModule(void** handle)
{
    auto* const image = reinterpret_cast<Image*>(handle);
    const cudaError_t error = enter([image](const Driver& driver) -> CUresult {
        const std::lock_guard lock(registry().mutex);
        if (const CUresult result = load(driver, *image))
            return result;
        for (const ManagedVariable& variable : image->managed) {
            CUdeviceptr address = 0;
#if CUDART_VERSION >= 12000
            const CUresult result = driver.cuLibraryGetManaged(&address, nullptr, image->library,
                                                               variable.name.c_str());
#else
            const CUresult result =
                driver.cuModuleGetGlobal(&address, nullptr, image->library, variable.name.c_str());
#endif
            if (result != CUDA_SUCCESS)
                return result;
            *variable.host_pointer = reinterpret_cast<void*>(address);
        }
        return CUDA_SUCCESS;
    });
    return error == cudaSuccess ? 1 : 0;
}
