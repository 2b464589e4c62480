// tests/corpus/programs/trap_objects_in_a_pool.cu — events and streams are made at first, used in turn, and some
// destroyed: none piles up. What a context takes along is not left.
// truth: verdict clean
// truth: object function=make_all object=event api=cudaEventCreate made=16 ended=0 alive=16 class=start-up|several
// truth: object function=make_all object=stream made=4 ended=4 alive=0
// truth: object function=in_a_context object=event made=8 ended=0 alive=0
// truth: object function=in_a_context object=context made=1 ended=1 alive=0
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void make_all(cudaEvent_t (&events)[16], cudaStream_t (&streams)[4])
{
    for (cudaEvent_t& event : events)
        check(cudaEventCreate(&event));
    for (cudaStream_t& stream : streams)
        check(cudaStreamCreate(&stream));
}

[[gnu::noinline]] void in_a_context()
{
    CUcontext context = nullptr;
    CUevent event = nullptr;
#if CUDA_VERSION >= 13000
    check(cuCtxCreate(&context, nullptr, 0, 0));
#else
    check(cuCtxCreate(&context, 0, 0));
#endif
    for (int number = 0; number < 8; ++number)
        check(cuEventCreate(&event, 0));
    check(cuCtxDestroy(context));
}

int main()
{
    cudaEvent_t events[16];
    cudaStream_t streams[4];
    make_all(events, streams);
    for (int use = 0; use < 200; ++use) {
        void* block = nullptr;
        check(cudaMalloc(&block, 64_KiB));
        check(cudaEventRecord(events[use % 16], streams[use % 4]));
        check(cudaEventSynchronize(events[use % 16]));
        check(cudaFree(block));
    }
    for (cudaStream_t stream : streams)
        check(cudaStreamDestroy(stream));
    in_a_context();
}
