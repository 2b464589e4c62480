// tests/gpu/facts/objects.cpp — what free memory falls by when the driver's objects are made.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

// A module that takes what its variable takes.
const char kModule[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                       ".visible .global .align 8 .b8 room[1048576];\n"
                       ".visible .entry nothing()\n{\n ret;\n}\n";

/// Makes `count` objects, and ends them.
template <class Object>
void tell(const char* what, int count, const std::function<Object()>& make,
          const std::function<void(Object)>& end)
{
    CHECK(cudaDeviceSynchronize());
    const std::size_t before = free_bytes();
    std::vector<Object> objects;
    std::ptrdiff_t first = 0;
    int falls = 0;
    for (std::size_t last = before; static_cast<int>(objects.size()) < count;) {
        objects.push_back(make());
        const std::size_t now = free_bytes();
        falls += now != last;
        last = now;
        if (objects.size() == 1)
            first = fall_since(before);
    }
    CHECK(cudaDeviceSynchronize());
    const std::ptrdiff_t all = fall_since(before);
    for (Object object : objects)
        end(object);
    CHECK(cudaDeviceSynchronize());
    std::printf("%d %s: free memory fell by %td, %td at the first, in %d steps: %.0f each; %td not "
                "given back when they ended\n",
                count, what, all, first, falls, static_cast<double>(all) / count,
                fall_since(before));
}

CUgraphExec executable(int nodes)
{
    CUgraph graph = nullptr;
    CUgraphExec made = nullptr;
    require(cuGraphCreate(&graph, 0));
    for (int i = 0; i < nodes; ++i) {
        cudaKernelNodeParams parameters{};
        unsigned long long time = 1;
        void* arguments[] = {&time};
        parameters.func = kernel();
        parameters.gridDim = parameters.blockDim = dim3{1, 1, 1};
        parameters.kernelParams = arguments;
        cudaGraphNode_t node = nullptr;
        CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    }
    require(cuGraphInstantiateWithFlags(&made, graph, 0));
    require(cuGraphDestroy(graph));
    return made;
}

CUcontext context()
{
    CUcontext before = nullptr, made = nullptr;
    require(cuCtxGetCurrent(&before));
#if CUDA_VERSION >= 13000
    require(cuCtxCreate(&made, nullptr, 0, 0));
#else
    require(cuCtxCreate(&made, 0, 0));
#endif
    require(cuCtxSetCurrent(before));
    return made;
}

void tell_limit(const char* name, cudaLimit limit, std::size_t value)
{
    const std::size_t before = free_bytes();
    const cudaError_t result = cudaDeviceSetLimit(limit, value);
    (void)cudaGetLastError();
    keep_busy(1);
    CHECK(cudaDeviceSynchronize());
    std::printf("%s of %zu: %s, free memory fell by %td\n", name, value, name_of(result).c_str(),
                fall_since(before));
}

} // namespace

void tell_objects()
{
    keep_busy(1);
    CHECK(cudaDeviceSynchronize());
    tell<cudaStream_t>(
        "streams", 256,
        [] {
            cudaStream_t made = nullptr;
            CHECK(cudaStreamCreate(&made));
            return made;
        },
        [](cudaStream_t stream) { CHECK(cudaStreamDestroy(stream)); });
    tell<cudaStream_t>(
        "streams with a kernel each", 256,
        [] {
            cudaStream_t made = nullptr;
            CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
            keep_busy(1, made);
            return made;
        },
        [](cudaStream_t stream) { CHECK(cudaStreamDestroy(stream)); });
    tell<cudaEvent_t>(
        "events", 10000,
        [] {
            cudaEvent_t made = nullptr;
            CHECK(cudaEventCreate(&made));
            return made;
        },
        [](cudaEvent_t event) { CHECK(cudaEventDestroy(event)); });
    tell<CUgraphExec>(
        "executable graphs of 1 kernel", 256, [] { return executable(1); },
        [](CUgraphExec graph) { require(cuGraphExecDestroy(graph)); });
    tell<CUgraphExec>(
        "executable graphs of 100 kernels", 64, [] { return executable(100); },
        [](CUgraphExec graph) { require(cuGraphExecDestroy(graph)); });
    tell<CUgraphExec>(
        "executable graphs of 100 kernels, launched", 64,
        [] {
            CUgraphExec made = executable(100);
            require(cuGraphLaunch(made, nullptr));
            return made;
        },
        [](CUgraphExec graph) { require(cuGraphExecDestroy(graph)); });
    tell<CUmemoryPool>(
        "pools", 64,
        [] {
            const CUmemPoolProps properties = pool_on_device();
            CUmemoryPool made = nullptr;
            require(cuMemPoolCreate(&made, &properties));
            return made;
        },
        [](CUmemoryPool pool) { require(cuMemPoolDestroy(pool)); });
    tell<CUmodule>(
        "modules with 1 MiB of variables", 32,
        [] {
            CUmodule made = nullptr;
            require(cuModuleLoadData(&made, kModule));
            return made;
        },
        [](CUmodule module) { require(cuModuleUnload(module)); });
    tell<CUcontext>("contexts beside the first", 3, context,
                    [](CUcontext made) { require(cuCtxDestroy(made)); });
    tell_limit("cudaLimitPrintfFifoSize", cudaLimitPrintfFifoSize, std::size_t{64} << 20);
    tell_limit("cudaLimitMallocHeapSize", cudaLimitMallocHeapSize, std::size_t{256} << 20);
    tell_limit("cudaLimitStackSize", cudaLimitStackSize, std::size_t{16} << 10);
}

} // namespace facts
