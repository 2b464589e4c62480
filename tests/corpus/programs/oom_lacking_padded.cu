// tests/corpus/programs/oom_lacking_padded.cu — rows, volumes, arrays and mipmaps that are larger
// than what is left of the limit: the driver pads them, so as much is asked for, at least.
// run: set=limit=64MiB
// truth: verdict clean
// truth: oom function=rows kind=lacking requested=50MiB short_by=16MiB requested_at_least=true device=0
// truth: oom function=volume kind=lacking requested=64MiB short_by=30MiB requested_at_least=true device=0
// truth: oom function=array kind=lacking requested=64MiB short_by=30MiB requested_at_least=true device=0
// truth: oom function=array_3d kind=lacking requested=40MiB short_by=6MiB requested_at_least=true device=0
// truth: oom function=mipmap kind=lacking requested=42MiB short_by=8MiB requested_at_least=true device=0
// truth: failed function=rows calls=1
// truth: failed function=volume calls=1
// truth: failed function=array calls=1
// truth: failed function=array_3d calls=1
// truth: failed function=mipmap calls=1
#include "tests/corpus/corpus.hpp"

bool failed(cudaError_t result)
{
    cudaGetLastError();
    return result == cudaErrorMemoryAllocation;
}

bool rows()
{
    void* block = nullptr;
    size_t pitch = 0;
    return failed(cudaMallocPitch(&block, &pitch, 1_MiB, 50));
}

bool volume()
{
    cudaPitchedPtr block{};
    return failed(cudaMalloc3D(&block, make_cudaExtent(1_KiB, 256, 256)));
}

bool array()
{
    cudaArray_t block = nullptr;
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    return failed(cudaMallocArray(&block, &floats, 4096, 4096));
}

bool array_3d()
{
    cudaArray_t block = nullptr;
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    return failed(cudaMalloc3DArray(&block, &bytes, make_cudaExtent(1024, 1024, 40)));
}

bool mipmap()
{
    cudaMipmappedArray_t block = nullptr;
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    return failed(cudaMallocMipmappedArray(&block, &floats, make_cudaExtent(4096, 2048, 0), 3));
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 30_MiB));
    const bool all = rows() && volume() && array() && array_3d() && mipmap();
    check(cudaFree(block));
    return all ? 0 : 98;
}
