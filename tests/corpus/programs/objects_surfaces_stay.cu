// tests/corpus/programs/objects_surfaces_stay.cu — a surface object is made for each frame and
// stays; its array is freed.
// truth: verdict clean
// truth: owner function=show memory=surface blocks=120
// truth: object function=show object=surface made=120 ended=0 alive=120 class=growing per=call
#include "tests/corpus/arrays.hpp"
#include "tests/corpus/corpus.hpp"

void show(cudaArray_t array)
{
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface = 0;
    check(cudaCreateSurfaceObject(&surface, &resource));
}

int main()
{
    for (int frame = 0; frame < 120; ++frame) {
        const cudaArray_t array = new_array();
        show(array);
        check(cudaFreeArray(array));
    }
}
