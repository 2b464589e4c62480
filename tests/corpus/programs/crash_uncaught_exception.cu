// tests/corpus/programs/crash_uncaught_exception.cu — an exception that nobody catches, while a
// vector's memory is alive.
// run: exit=134
// truth: verdict inconclusive
// truth: leak function=Vector::Vector kind=in-use-at-crash memory=device blocks=1 bytes=4KiB
#include <stdexcept>

#include "tests/corpus/corpus.hpp"

struct Vector {
    Vector() { check(cudaMalloc(&data, 4_KiB)); }
    ~Vector() { check(cudaFree(data)); }
    void* data = nullptr;
};

int main()
{
    const Vector vector;
    throw std::runtime_error("nobody is there");
}
