// tests/corpus/programs/leak_destructor_never_called.cu — objects of good manners, made with new
// and never deleted.
// truth: verdict leaks
// truth: leak function=Tensor::Tensor memory=device blocks=4 bytes=4*4096 through=load_layers
#include <memory>
#include <vector>

#include "tests/corpus/corpus.hpp"

class Tensor {
public:
    explicit Tensor(size_t bytes) { check(cudaMalloc(&data_, bytes)); }
    ~Tensor() { check(cudaFree(data_)); }

private:
    void* data_ = nullptr;
};

void load_layers(std::vector<Tensor*>& layers)
{
    for (int layer = 0; layer < 4; ++layer)
        layers.push_back(new Tensor(4096));
}

int main()
{
    std::vector<Tensor*> layers;
    load_layers(layers);
    const auto good = std::make_unique<Tensor>(8192);
}
