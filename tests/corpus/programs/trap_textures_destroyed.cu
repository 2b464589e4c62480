// tests/corpus/programs/trap_textures_destroyed.cu — texture and surface objects of one array come
// and go, with handles that are used again.
// truth: verdict clean
#include "tests/corpus/arrays.hpp"
#include "tests/corpus/corpus.hpp"

int main()
{
    const cudaArray_t array = new_array();
    const cudaResourceDesc resource = resource_of(array);
    for (int frame = 0; frame < 60; ++frame) {
        cudaTextureDesc how{};
        cudaTextureObject_t texture = 0;
        cudaSurfaceObject_t surface = 0;
        check(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
        check(cudaCreateSurfaceObject(&surface, &resource));
        check(cudaDestroyTextureObject(texture));
        check(cudaDestroySurfaceObject(surface));
    }
    check(cudaFreeArray(array));
}
