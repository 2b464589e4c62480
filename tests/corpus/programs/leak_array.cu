// tests/corpus/programs/leak_array.cu — arrays: one of two textures, and a mipmap.
// truth: verdict leaks
// truth: leak function=make_texture memory=array api=cudaMallocArray blocks=1 bytes=256*256*4
// truth: leak function=make_mipmap memory=mipmap api=cudaMallocMipmappedArray blocks=1 bytes=64*64*4+32*32*4
#include "tests/corpus/corpus.hpp"

cudaArray_t make_texture()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    check(cudaMallocArray(&array, &format, 256, 256));
    return array;
}

cudaMipmappedArray_t make_mipmap()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaMipmappedArray_t array = nullptr;
    check(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(64, 64, 0), 2));
    return array;
}

int main()
{
    check(cudaFreeArray(make_texture()));
    check(cudaFreeMipmappedArray(make_mipmap()));
    make_texture();
    make_mipmap();
}
