// tests/gpu/facts/spin.cu — the kernel; nvcc compiles nothing else here.
#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

__global__ void spin(unsigned long long nanoseconds)
{
    unsigned long long start = 0, now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}

} // namespace

void keep_busy(unsigned long long nanoseconds, cudaStream_t stream)
{
    spin<<<1, 1, 0, stream>>>(nanoseconds);
}

void* kernel()
{
    return reinterpret_cast<void*>(&spin);
}

} // namespace facts
