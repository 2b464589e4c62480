// tests/corpus/programs/leak_shared_cycle.cu — two shared pointers hold each other.
// truth: verdict leaks
// truth: leak function=Node::Node memory=device blocks=2 bytes=2*6000 rows=2 fingerprints=1
#include <memory>

#include "tests/corpus/corpus.hpp"

struct Node {
    Node() { check(cudaMalloc(&data, 6000)); }
    ~Node() { check(cudaFree(data)); }
    void* data = nullptr;
    std::shared_ptr<Node> other;
};

void make_pair(bool cycle)
{
    const auto a = std::make_shared<Node>();
    const auto b = std::make_shared<Node>();
    a->other = b;
    if (cycle)
        b->other = a;
}

int main()
{
    make_pair(false);
    make_pair(true);
}
