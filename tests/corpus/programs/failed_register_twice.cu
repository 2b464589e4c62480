// tests/corpus/programs/failed_register_twice.cu — a range is pinned that is pinned already, and the
// program goes on.
// truth: verdict clean
// truth: failed function=pin calls=1 result=CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
#include "tests/corpus/corpus.hpp"

alignas(4096) static char buffer[1 << 20];

[[gnu::noinline]] cudaError_t pin()
{
    const cudaError_t done = cudaHostRegister(buffer, sizeof buffer, cudaHostRegisterDefault);
    return done == cudaErrorUnknown ? cudaSuccess : done; // so that the call is no jump
}

int main()
{
    check(pin());
    if (pin() != cudaErrorHostMemoryAlreadyRegistered)
        return 1;
    check(cudaHostUnregister(buffer));
}
