// tests/corpus/programs/leak_called_by_library.cu — the standard library calls the program's code,
// on one way or another: the place is the program's, and one place is one row.
// truth: verdict leaks
// truth: leak function=Item::Item memory=device blocks=64 bytes=64*2000 class=growing per=step slope=2000
// truth: leak mark=lambda memory=device blocks=5 bytes=5*300
// truth: leak mark=function memory=device blocks=1 bytes=900
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

struct Item {
    void* block = nullptr;
    __attribute__((noinline)) explicit Item(std::size_t bytes) { check(cudaMalloc(&block, bytes)); }
};

int main()
{
    std::array<void*, 5> blocks{};
    std::for_each(blocks.begin(), blocks.end(), [](void*& block) {
        check(cudaMalloc(&block, 300)); // MARK lambda
    });
    const std::function<void*(std::size_t)> allocate = [](std::size_t bytes) {
        void* block = nullptr;
        check(cudaMalloc(&block, bytes)); // MARK function
        return block;
    };
    if (allocate(900) == nullptr)
        return 98;
    std::vector<Item> items; // which it moves to a larger place now and then
    for (int step = 0; step < 64; ++step) {
        const Range range("step");
        items.emplace_back(2000);
    }
}
