/* tests/programs/process/unwind_table.c — C code that leaks in main and below a function.
 *
 * It is compiled with unwind tables, and without; then main's frame pointer leads an unwinder past
 * the functions between. */
#include <cuda.h>

static int leak(size_t bytes)
{
    CUdeviceptr block = 0;
    return cuMemAlloc(&block, bytes) != CUDA_SUCCESS;
}

__attribute__((noinline)) int inner(int number)
{
    return leak(1000) + number;
}

__attribute__((noinline)) int outer(int number)
{
    return inner(number * 2) - number;
}

#ifdef MAIN_HAS_A_FRAME /* as all code has on some systems */
__attribute__((optimize("no-omit-frame-pointer")))
#endif
int main(int argc, char** argv)
{
    (void)argv;
    CUcontext context = NULL;
    CUdeviceptr block = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS || outer(argc) != argc)
        return 1;
    return cuMemAlloc(&block, 3000) != CUDA_SUCCESS;
}
