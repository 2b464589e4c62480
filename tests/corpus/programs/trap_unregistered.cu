// tests/corpus/programs/trap_unregistered.cu — host memory is registered, unregistered, and
// registered again at the same address.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

alignas(4096) char memory[65536];

int main()
{
    for (int times = 0; times < 20; ++times) {
        check(cudaHostRegister(memory, 4096 * (1 + times % 16), cudaHostRegisterDefault));
        check(cudaHostUnregister(memory));
    }
}
