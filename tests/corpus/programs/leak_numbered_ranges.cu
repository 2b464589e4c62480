// tests/corpus/programs/leak_numbered_ranges.cu — each step's range has its number in its name:
// they are one thing.
// truth: verdict leaks
// truth: leak function=keep memory=device blocks=64 bytes=64*1000 class=growing per=step slope=1000
#include <string>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void keep()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1000));
}

int main()
{
    for (int step = 0; step < 64; ++step) {
        const Range range(("step " + std::to_string(step)).c_str());
        keep();
    }
}
