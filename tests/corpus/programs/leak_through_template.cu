// tests/corpus/programs/leak_through_template.cu — all memory comes from a class template; who
// makes its objects is what leaks.
// truth: verdict leaks
// truth: leak headline=load_layer through=Tensor::Tensor memory=device blocks=4 bytes=4*12MiB
// truth: leak headline=Cache::page through=Tensor::Tensor memory=device blocks=80 bytes=80*64KiB class=growing per=call slope=64KiB
// truth: leak headline=trace through=Tensor::Tensor memory=device blocks=80 bytes=80*16KiB class=growing per=call slope=16KiB
#include <memory>
#include <vector>

#include "tests/corpus/corpus.hpp"

template <typename T>
class Tensor {
public:
    [[gnu::noinline]] explicit Tensor(std::size_t count)
    {
        check(cudaMalloc(&data_, count * sizeof(T)));
    }
    ~Tensor() { check(cudaFree(data_)); }
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;
    void forget() { data_ = nullptr; }

private:
    void* data_ = nullptr;
};

struct Cache {
    std::vector<std::unique_ptr<Tensor<char>>> pages;
    [[gnu::noinline]] void page()
    {
        pages.push_back(std::make_unique<Tensor<char>>(64_KiB));
        pages.back()->forget();
    }
};

[[gnu::noinline]] void load_layer()
{
    Tensor<float> weights(3_MiB);
    weights.forget();
}

[[gnu::noinline]] void trace()
{
    Tensor<float> span(4_KiB);
    span.forget();
}

int main()
{
    Cache cache;
    for (int layer = 0; layer < 4; ++layer)
        load_layer();
    for (int step = 0; step < 80; ++step) {
        cache.page();
        trace();
        const Tensor<float> scratch(1_KiB);
    }
}
