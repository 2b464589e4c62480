// tests/simgpu/runtime/program.cu — a plain CUDA program, as a user would build it with nvcc.
//
// It prints one line for each thing that it saw. On the simulated GPU a host version of its kernel
// runs, on a GPU the kernel itself.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            std::printf("%s: %s\n", #call, cudaGetErrorName(error));                               \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__device__ int offset_of_all;
__managed__ int launches;

extern "C" __global__ void add(int* values, int addend)
{
    values[threadIdx.x] += addend;
}

static void host_add(const unsigned*, const unsigned block[3], unsigned, void** arguments)
{
    int* const values = *static_cast<int**>(arguments[0]);
    for (unsigned index = 0; index < block[0]; ++index)
        values[index] += *static_cast<int*>(arguments[1]);
}

static void use_host_version()
{
    using SetKernel =
        void (*)(const char*, void (*)(const unsigned*, const unsigned*, unsigned, void**), size_t,
                 const size_t*);
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    const auto set_kernel =
        driver ? reinterpret_cast<SetKernel>(dlsym(driver, "simgpu_set_kernel")) : nullptr;
    const size_t sizes[] = {sizeof(int*), sizeof(int)};
    if (set_kernel)
        set_kernel("add", host_add, 2, sizes);
}

int main()
{
    use_host_version();
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("device %s, %d in all\n", properties.name, devices);

    void* async = nullptr;
    CHECK(cudaMallocAsync(&async, 1 << 20, nullptr)); // the first call has no context yet
    CHECK(cudaFreeAsync(async, nullptr));

    int* values = nullptr;
    CHECK(cudaMalloc(&values, 32 * sizeof(int)));
    CHECK(cudaMemset(values, 0, 32 * sizeof(int)));
    add<<<1, 32>>>(values, 40);
    add<<<1, 32>>>(values, 2);
    int results[32] = {};
    CHECK(cudaMemcpy(results, values, sizeof results, cudaMemcpyDeviceToHost));
    std::printf("kernel %d\n", results[31]);

    int written = 7;
    int read = 0;
    CHECK(cudaMemcpyToSymbol(offset_of_all, &written, sizeof written));
    CHECK(cudaMemcpyFromSymbol(&read, offset_of_all, sizeof read));
    launches = 3;
    CHECK(cudaDeviceSynchronize());
    std::printf("symbol %d managed %d\n", read, launches);

    void* pinned = nullptr;
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc channel =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    CHECK(cudaMallocHost(&pinned, 4096));
    CHECK(cudaMallocArray(&array, &channel, 16, 16));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeHost(pinned));

    CHECK(cudaFree(values));
    std::printf("double free %s\n", cudaGetErrorName(cudaFree(values)));
    std::printf("last %s", cudaGetErrorName(cudaGetLastError()));
    std::printf(" then %s\n", cudaGetErrorName(cudaGetLastError()));

    CHECK(cudaMalloc(&values, 1024));
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&values, 2048)); // a new context, which lives until the process ends
    return 0;
}
