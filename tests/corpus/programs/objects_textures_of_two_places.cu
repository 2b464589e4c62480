// tests/corpus/programs/objects_textures_of_two_places.cu — two functions make texture objects; one
// of them destroys its own.
// truth: verdict clean
// truth: owner function=bind memory=texture blocks=16
// truth: object function=bind object=texture made=16 ended=0 alive=16 class=growing per=call
// truth: object function=sample object=texture made=16 ended=16 alive=0
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
