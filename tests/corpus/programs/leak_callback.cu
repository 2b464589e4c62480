// tests/corpus/programs/leak_callback.cu — allocated by a function object that a library of the
// program calls.
// truth: verdict leaks
// truth: leak through=run_all memory=device blocks=3 bytes=3*700
#include <functional>
#include <vector>

#include "tests/corpus/corpus.hpp"

__attribute__((noinline)) void run_all(const std::vector<std::function<void()>>& jobs)
{
    for (const auto& job : jobs)
        job();
}

int main()
{
    int done = 0;
    const std::vector<std::function<void()>> jobs(3, [&done] {
        void* block = nullptr;
        check(cudaMalloc(&block, 700));
        ++done;
    });
    run_all(jobs);
    return done == 3 ? 0 : 98;
}
