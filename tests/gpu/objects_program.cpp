// tests/gpu/objects_program.cpp — contexts and objects of the driver's, of which some stay.
//
// Output: a line "object KIND made ended" for each kind. On stderr, as it differs from run to run:
// "context BYTES" for what free memory fell by around a second context, "stream BYTES" and
// "graph_exec BYTES" for all of theirs together, and what a pair of making and ending one takes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda.h>

namespace {

constexpr char kCode[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry run() { ret; }\n";
constexpr int kPairs = 20'000;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const CUresult status = (call);                                                            \
        if (status != CUDA_SUCCESS) {                                                              \
            std::printf("%s:%d: error %d\n", #call, __LINE__, static_cast<int>(status));           \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

std::size_t free_now()
{
    std::size_t free = 0;
    std::size_t total = 0;
    CHECK(cuMemGetInfo(&free, &total));
    return free;
}

void tell_fall(const char* what, std::size_t before)
{
    const std::size_t after = free_now();
    std::fprintf(stderr, "%s %zu\n", what, before > after ? before - after : 0);
}

template <class Pair>
void tell_time(const char* what, Pair pair)
{
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < kPairs / 5; ++i)
            pair();
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - began;
        best = std::min(best, took.count() / (kPairs / 5));
    }
    std::fprintf(stderr, "pair of %s: %.0f ns\n", what, best);
}

void contexts()
{
    CUcontext second = nullptr;
    const std::size_t before = free_now();
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&second, nullptr, 0, 0));
#else
    CHECK(cuCtxCreate(&second, 0, 0));
#endif
    tell_fall("context", before);
    CHECK(cuCtxDestroy(second));
    std::printf("object context 1 1\n");
}

void streams()
{
    CUstream made[64];
    const std::size_t before = free_now();
    for (CUstream& stream : made)
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    tell_fall("stream", before);
    for (int i = 0; i < 40; ++i)
        CHECK(cuStreamDestroy(made[i]));
    std::printf("object stream 64 40\n");
}

void events()
{
    CUevent made[1000];
    for (CUevent& event : made)
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 900; ++i)
        CHECK(cuEventDestroy(made[i]));
    tell_time("events", [] {
        CUevent event = nullptr;
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        CHECK(cuEventDestroy(event));
    });
    std::printf("object event %d %d\n", 1000 + kPairs, 900 + kPairs);
}

void graphs()
{
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    CUgraphExec made[32];
    const std::size_t before = free_now();
    for (CUgraphExec& one : made)
        CHECK(cuGraphInstantiateWithFlags(&one, graph, 0));
    tell_fall("graph_exec", before);
    for (int i = 0; i < 30; ++i)
        CHECK(cuGraphExecDestroy(made[i]));
    tell_time("graphs", [] {
        CUgraph one = nullptr;
        CHECK(cuGraphCreate(&one, 0));
        CHECK(cuGraphDestroy(one));
    });
    std::printf("object graph_object %d %d\nobject graph_exec 32 30\n", 1 + kPairs, kPairs);
}

void modules()
{
    CUmodule made[8];
    for (CUmodule& module : made)
        CHECK(cuModuleLoadData(&module, kCode));
    for (int i = 0; i < 5; ++i)
        CHECK(cuModuleUnload(made[i]));
    std::printf("object module 8 5\n");
}

} // namespace

int main()
{
    CUcontext context = nullptr;
    CUdeviceptr block = 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&block, 1 << 20));
    contexts();
    CHECK(cuCtxSetCurrent(context));
    streams();
    events();
    graphs();
    modules();
    CHECK(cuMemFree(block));
    return 0;
}
