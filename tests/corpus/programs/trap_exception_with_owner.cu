// tests/corpus/programs/trap_exception_with_owner.cu — an exception passes, and a destructor frees.
// truth: verdict clean
#include <stdexcept>

#include "tests/corpus/corpus.hpp"

struct Block {
    Block() { check(cudaMalloc(&data, 20000)); }
    ~Block() { check(cudaFree(data)); }
    void* data = nullptr;
};

int main()
{
    int caught = 0;
    for (int i = 0; i < 9; ++i)
        try {
            const Block block;
            if (i % 3 == 0)
                throw std::runtime_error("bad record");
        } catch (const std::runtime_error&) {
            ++caught;
        }
    return caught == 3 ? 0 : 98;
}
