// tests/corpus/programs/objects_textures_of_two_places.cu — two functions make texture objects; one
// of them destroys its own.
// truth: verdict clean
// truth: owner function=bind memory=texture blocks=16
// truth: growth function=bind memory=texture per=call
#include "tests/corpus/arrays.hpp"
#include "tests/corpus/corpus.hpp"

cudaTextureObject_t bind(const cudaResourceDesc& resource)
{
    cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

void sample(const cudaResourceDesc& resource)
{
    cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    check(cudaDestroyTextureObject(texture));
}

int main()
{
    const cudaArray_t array = new_array();
    const cudaResourceDesc resource = resource_of(array);
    for (int layer = 0; layer < 16; ++layer) {
        bind(resource);
        sample(resource);
    }
    check(cudaFreeArray(array));
}
