// tests/corpus/programs/leak_managed.cu — unified memory that nobody frees.
// truth: verdict leaks
// truth: leak function=Mesh::Mesh memory=managed api=cudaMallocManaged blocks=3 bytes=3*64KiB
#include "tests/corpus/corpus.hpp"

struct Mesh {
    Mesh()
    {
        check(cudaMallocManaged(&vertices, 64_KiB));
        vertices[0] = 1;
    }
    float* vertices = nullptr;
};

int main()
{
    Mesh meshes[4];
    check(cudaFree(meshes[2].vertices));
}
