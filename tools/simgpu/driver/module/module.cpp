// tools/simgpu/driver/module/module.cpp — open and close images, find what is in them.
#include "tools/simgpu/driver/module/module.hpp"

#include <algorithm>
#include <cstdio>

#include "tools/simgpu/driver/memory/allocation.hpp"

namespace simgpu {
namespace {

struct VariableSizes {
    std::mutex mutex;
    std::map<std::string, std::size_t, std::less<>> by_name;
};

VariableSizes& variable_sizes()
{
    static auto* all = new VariableSizes;
    return *all;
}

} // namespace

std::mutex& module_mutex()
{
    static auto* mutex = new std::mutex;
    return *mutex;
}

CUresult read_image(const char* path, std::vector<char>& image)
{
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    std::FILE* const file = std::fopen(path, "rb");
    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    char part[1 << 16];
    while (const std::size_t bytes = std::fread(part, 1, sizeof part, file))
        image.insert(image.end(), part, part + bytes);
    std::fclose(file);
    if (image.empty())
        return CUDA_ERROR_INVALID_IMAGE;
    image.push_back('\0'); // a text, such as PTX, ends with it
    return CUDA_SUCCESS;
}

Module* open_module(Context* context, const void* image)
{
    Module* module = slots<Module>().make();
    module->library = !context;
    module->context = context;
    module->context_id = context ? context->id : 0;
    module->architectures = architectures_of(image, kComputeCapability);
    module->own = {};
    return module;
}

void close_module(Module& module)
{
    module.own.give();
    {
        const std::lock_guard lock(module_mutex());
        for (const auto& [name, kernel] : module.kernels)
            slots<Kernel>().retire(kernel);
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
    slots<Module>().retire(&module);
}

std::size_t bytes_of_variable(const char* name)
{
    VariableSizes& all = variable_sizes();
    const std::lock_guard lock(all.mutex);
    const auto known = all.by_name.find(name);
    return known == all.by_name.end() ? kUnknownVariableBytes : known->second;
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
        known = slots<Kernel>().make();
        known->name = name;
        known->module = module;
        known->attributes.clear();
    }
    kernel = known;
    return CUDA_SUCCESS;
}

CUresult find_global(Context& context, Module* module, const char* name, CUdeviceptr* address,
                     std::size_t* bytes)
{
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
        made.bytes = bytes_of_variable(name);
        made.start = context.device->take(made.bytes);
        if (!made.start)
            return CUDA_ERROR_OUT_OF_MEMORY;
        made.kind = Kind::global;
        made.device = context.device;
        made.context = &context;
        start = made.start;
        living = &add_allocation_locked(made);
    }
    if (address)
        *address = living->start;
    if (bytes)
        *bytes = living->bytes;
    return CUDA_SUCCESS;
}

} // namespace simgpu

extern "C" SIMGPU_EXPORT void simgpu_set_variable_bytes(const char* name, size_t bytes)
{
    if (!name || bytes == 0)
        return;
    auto& all = simgpu::variable_sizes();
    const std::lock_guard lock(all.mutex);
    std::size_t& known = all.by_name[name];
    known = std::max(known, bytes);
}
