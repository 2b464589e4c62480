// tests/corpus/programs/leak_per_mark.cu — a server marks each request; each leaves its answer.
// truth: verdict leaks
// truth: leak function=answer memory=device blocks=60 bytes=60*10000 class=growing per=request slope=10000
#include <string>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void answer()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 10000));
}

int main()
{
    for (int request = 1; request <= 60; ++request) {
        answer();
        nvtxMarkA(("request " + std::to_string(request)).c_str());
    }
}
