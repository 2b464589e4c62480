// tools/simgpu/driver/module/launch.cpp — host versions of kernels, and launches.
#include "tools/simgpu/driver/module/launch.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "api.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/context/own_bytes.hpp"

namespace simgpu {
namespace {

struct HostVersion {
    simgpu_kernel function;
    std::vector<std::size_t> argument_bytes;
    std::map<std::size_t, std::size_t> ranges;
};

struct HostVersions {
    std::mutex mutex;
    std::map<std::string, HostVersion, std::less<>> by_name;
    std::atomic<bool> any{false};
};

HostVersions& host_versions()
{
    static auto* all = new HostVersions;
    return *all;
}

// Arguments that the caller packed, each at its natural alignment (CU_LAUNCH_PARAM_BUFFER_POINTER).
const unsigned char* packed_arguments(void** extra)
{
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            return static_cast<const unsigned char*>(extra[1]);
    return nullptr;
}

void copy_arguments(const std::vector<std::size_t>& sizes, void** parameters, void** extra,
                    KernelCall& call)
{
    const unsigned char* const packed = packed_arguments(extra);
    std::size_t offset = 0;
    for (std::size_t index = 0; index < sizes.size(); ++index) {
        const std::size_t bytes = sizes[index];
        const std::size_t alignment = std::min<std::size_t>(16, bytes & (~bytes + 1));
        offset = round_up(offset, std::max<std::size_t>(1, alignment));
        const auto* const from =
            packed ? packed + offset : static_cast<const unsigned char*>(parameters[index]);
        call.arguments.emplace_back(from, from + bytes);
        offset += bytes;
    }
}

// An argument as a pointer or a size; nothing if it does not have 8 bytes.
std::optional<std::uintptr_t> number_in(const std::vector<unsigned char>& argument)
{
    std::uintptr_t value = 0;
    if (argument.size() != sizeof value)
        return std::nullopt;
    std::memcpy(&value, argument.data(), sizeof value);
    return value;
}

} // namespace

bool host_kernels_exist()
{
    return host_versions().any.load(std::memory_order_relaxed);
}

CUresult make_call(CUfunction function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                   unsigned shared_bytes, void** parameters, void** extra, KernelCall& call)
{
    const Kernel* kernel = slots<Kernel>().find(function);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0 || threads > kMostThreads ||
        shared_bytes > kMostSharedBytes)
        return CUDA_ERROR_INVALID_VALUE;
    call = {kernel->name, grid, block, shared_bytes, {}, {}};
    HostVersions& all = host_versions();
    const std::lock_guard lock(all.mutex);
    const auto version = all.by_name.find(kernel->name);
    if (version == all.by_name.end())
        return CUDA_SUCCESS;
    if (!version->second.argument_bytes.empty() && !parameters && !packed_arguments(extra))
        return CUDA_ERROR_INVALID_VALUE;
    copy_arguments(version->second.argument_bytes, parameters, extra, call);
    call.ranges = version->second.ranges;
    return CUDA_SUCCESS;
}

Work make_work(const KernelCall& call)
{
    Work work;
    for (std::size_t index = 0; index < call.arguments.size(); ++index) {
        const auto start = number_in(call.arguments[index]);
        if (!start)
            continue;
        const auto range = call.ranges.find(index);
        const auto bytes =
            range == call.ranges.end() ? std::nullopt : number_in(call.arguments[range->second]);
        work.touches.push_back({*start, bytes.value_or(0), true});
    }
    work.run = [call] {
        simgpu_kernel function = nullptr;
        {
            HostVersions& all = host_versions();
            const std::lock_guard lock(all.mutex);
            const auto version = all.by_name.find(call.name);
            if (version != all.by_name.end() &&
                version->second.argument_bytes.size() == call.arguments.size())
                function = version->second.function;
        }
        if (!function)
            return CUDA_SUCCESS;
        std::vector<void*> pointers;
        for (const auto& argument : call.arguments)
            pointers.push_back(const_cast<unsigned char*>(argument.data()));
        function(call.grid.data(), call.block.data(), call.shared_bytes, pointers.data());
        return CUDA_SUCCESS;
    };
    return work;
}

namespace {

CUresult launch(CUfunction function, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                unsigned shared_bytes, CUstream stream_handle, void** parameters, void** extra)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    Stream* stream = nullptr;
    if (const CUresult error = resolve_stream(stream_handle, *context, stream))
        return error;
    if (stream->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    KernelCall call;
    if (const CUresult error =
            make_call(function, grid, block, shared_bytes, parameters, extra, call))
        return error;
    OwnBytes own; // given back with the context alone
    if (!context->has_launched.exchange(true) && !own.take(*context, object_bytes().first_launch))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return submit(*stream, {make_work(call), CU_GRAPH_NODE_TYPE_KERNEL});
}

} // namespace

namespace api {

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void** kernelParams, void** extra)
{
    return launch(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ},
                  sharedMemBytes, hStream, kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void** kernelParams)
{
    return launch(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ},
                  sharedMemBytes, hStream, kernelParams, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                          void** extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(f, {config->gridDimX, config->gridDimY, config->gridDimZ},
                  {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                  config->hStream, kernelParams, extra);
}

} // namespace api
} // namespace simgpu

extern "C" {

SIMGPU_EXPORT void simgpu_set_kernel(const char* name, simgpu_kernel function,
                                     size_t argument_count, const size_t* argument_bytes)
{
    if (!name)
        return;
    auto& all = simgpu::host_versions();
    const std::lock_guard lock(all.mutex);
    if (!function) {
        all.by_name.erase(name);
        return;
    }
    all.by_name[name] = {function, {argument_bytes, argument_bytes + argument_count}, {}};
    all.any.store(true);
}

SIMGPU_EXPORT int simgpu_set_kernel_range(const char* name, size_t pointer_argument,
                                          size_t bytes_argument)
{
    auto& all = simgpu::host_versions();
    const std::lock_guard lock(all.mutex);
    const auto version = all.by_name.find(name ? name : "");
    if (version == all.by_name.end() ||
        std::max(pointer_argument, bytes_argument) >= version->second.argument_bytes.size())
        return -1;
    version->second.ranges[pointer_argument] = bytes_argument;
    return 0;
}

} // extern "C"
