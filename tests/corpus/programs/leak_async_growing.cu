// tests/corpus/programs/leak_async_growing.cu — stream-ordered memory of which one block in each
// step is never freed.
// truth: verdict leaks
// truth: leak function=forward memory=async blocks=70 bytes=70*20KiB class=growing per=iteration slope=20KiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void forward(cudaStream_t stream)
{
    void* kept = nullptr;
    void* temporary = nullptr;
    check(cudaMallocAsync(&kept, 20_KiB, stream));
    check(cudaMallocAsync(&temporary, 200_KiB, stream));
    check(cudaFreeAsync(temporary, stream));
}

int main()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    for (int iteration = 0; iteration < 70; ++iteration) {
        const Range range("iteration");
        forward(stream);
        check(cudaStreamSynchronize(stream));
    }
    check(cudaStreamDestroy(stream));
}
