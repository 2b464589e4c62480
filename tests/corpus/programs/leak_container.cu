// tests/corpus/programs/leak_container.cu — a vector of pointers is cleared; pointers free nothing.
// truth: verdict leaks
// truth: leak function=Queue::push memory=device blocks=30 bytes=30*2000 class=growing|several|start-up|unclear
#include <vector>

#include "tests/corpus/corpus.hpp"

struct Queue {
    std::vector<void*> items;

    void push()
    {
        void* item = nullptr;
        check(cudaMalloc(&item, 2000));
        items.push_back(item);
    }
    void pop()
    {
        check(cudaFree(items.back()));
        items.pop_back();
    }
};

int main()
{
    Queue queue;
    for (int i = 0; i < 40; ++i)
        queue.push();
    for (int i = 0; i < 10; ++i)
        queue.pop();
    queue.items.clear();
}
