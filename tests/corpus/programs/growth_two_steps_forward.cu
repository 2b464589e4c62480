// tests/corpus/programs/growth_two_steps_forward.cu — each step takes two blocks of a queue and
// gives one back: growth by one.
// truth: verdict clean
// truth: growth function=push memory=device per=tick slope=3000 freed=true
#include <deque>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void push(std::deque<void*>& queue)
{
    queue.push_back(nullptr);
    check(cudaMalloc(&queue.back(), 3000));
}

void pop(std::deque<void*>& queue)
{
    check(cudaFree(queue.front()));
    queue.pop_front();
}

int main()
{
    std::deque<void*> queue;
    for (int tick = 0; tick < 150; ++tick) {
        const Range range("tick");
        push(queue);
        push(queue);
        pop(queue);
    }
    while (!queue.empty())
        pop(queue);
}
