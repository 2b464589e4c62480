// tests/corpus/programs/leak_recursion_per_step.cu — each step leaks one block, somewhere in a
// recursion: no call path leaks often, all of them together leak in each step.
// truth: verdict leaks
// truth: leak function=descend memory=device blocks=240 bytes=240*1000 rows=40 class=growing|unclear|several|start-up|cache
// truth: sum function=descend memory=device stacks=40 blocks=240 bytes=240*1000 class=growing slope=1000 per=step
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

__attribute__((noinline)) int descend(int depth)
{
    if (depth > 0) {
        const int below = descend(depth - 1);
        volatile const int here = 1; // else the compiler makes a loop of it
        return below + here;
    }
    void* node = nullptr;
    check(cudaMalloc(&node, 1000));
    return 1;
}

int main()
{
    int sum = 0;
    for (int step = 0; step < 240; ++step) {
        const Range range("step");
        sum += descend(step * 17 % 40);
    }
    return sum == 240 / 40 * (40 * 41 / 2) ? 0 : 98;
}
