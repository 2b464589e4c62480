// tests/corpus/programs/leak_function_static.cu — a static local that is made at first use and
// never given back.
// truth: verdict leaks
// truth: leak through=workspace memory=device blocks=1 bytes=2MiB class=once|start-up
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void* workspace()
{
    static void* const buffer = [] {
        void* made = nullptr;
        check(cudaMalloc(&made, 2_MiB)); // the lambda is inlined or not: its caller is on the stack
        return made;
    }();
    return buffer;
}

int main()
{
    for (int step = 0; step < 50; ++step) {
        const Range range("step");
        check(cudaMemset(workspace(), step, 2_MiB));
    }
}
