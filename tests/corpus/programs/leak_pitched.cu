// tests/corpus/programs/leak_pitched.cu — an image in rows, of the runtime's two functions for
// that.
// truth: verdict leaks
// truth: leak function=load_image memory=pitched api=cudaMallocPitch blocks=1 bytes=480*2KiB
// truth: leak function=load_volume memory=pitched api=cudaMalloc3D blocks=1 bytes=16*8*512
#include "tests/corpus/corpus.hpp"

void load_image()
{
    void* image = nullptr;
    size_t pitch = 0;
    check(cudaMallocPitch(&image, &pitch, 1900, 480));
    check(cudaMemset2D(image, pitch, 0, 1900, 480));
}

void load_volume()
{
    cudaPitchedPtr volume{};
    check(cudaMalloc3D(&volume, make_cudaExtent(500, 16, 8)));
}

int main()
{
    load_image();
    load_volume();
    cudaPitchedPtr freed{};
    check(cudaMalloc3D(&freed, make_cudaExtent(100, 2, 2)));
    check(cudaFree(freed.ptr));
}
