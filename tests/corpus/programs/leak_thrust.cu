// tests/corpus/programs/leak_thrust.cu — memory that Thrust and CUB allocate for the program is
// the program's: it is the caller that forgets it.
// truth: verdict leaks
// truth: leak function=Model::load memory=device blocks=1 bytes=4*5000
// truth: leak function=Model::keep memory=device blocks=60 bytes=60*4*700 class=growing per=step slope=4*700
// truth: leak function=scratch memory=device blocks=3 bytes=3*4KiB
// truth: leak function=mythrust::Buffer::Buffer memory=device blocks=1 bytes=3000
#include <vector>

#include <cub/util_allocator.cuh>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

struct Model {
    thrust::device_vector<float> weights;
    std::vector<thrust::device_ptr<float>> history;

    __attribute__((noinline)) std::size_t load(std::size_t count)
    {
        weights.reserve(count);
        return weights.capacity();
    }
    __attribute__((noinline)) void keep(std::size_t count)
    {
        history.push_back(thrust::device_malloc<float>(count));
    }
};

__attribute__((noinline)) void scratch(cub::CachingDeviceAllocator& allocator)
{
    void* block = nullptr;
    check(allocator.DeviceAllocate(&block, 4000));
}

// No part of Thrust.
namespace mythrust {
template <class Item>
struct Buffer {
    Item* items = nullptr;
    __attribute__((noinline)) explicit Buffer(std::size_t count)
    {
        check(cudaMalloc(&items, count * sizeof(Item)));
    }
};
} // namespace mythrust

int main()
{
    auto* const model = new Model;
    if (model->load(5000) != 5000)
        return 98;
    auto* const allocator = new cub::CachingDeviceAllocator;
    for (int i = 0; i < 3; ++i)
        scratch(*allocator);
    const mythrust::Buffer<char> buffer(3000);
    for (int step = 0; step < 60; ++step) {
        const Range range("step");
        model->keep(700);
    }
    return buffer.items ? 0 : 98;
}
