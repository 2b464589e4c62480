// tests/gpu/cublas_program.cu — a matrix product by cuBLAS; leaks one known block.
#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>
#include <cuda_runtime.h>

int main()
{
    constexpr int kSide = 512;
    constexpr size_t kBytes = kSide * kSide * sizeof(float);
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cublasHandle_t handle = nullptr;
    const float one = 1, zero = 0;
    const bool ran =
        cudaMalloc(&a, kBytes) == cudaSuccess && cudaMalloc(&b, kBytes) == cudaSuccess &&
        cudaMalloc(&c, kBytes) == cudaSuccess && cudaMemset(a, 0, kBytes) == cudaSuccess &&
        cudaMemset(b, 0, kBytes) == cudaSuccess && cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS &&
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, a, kSide, b, kSide,
                    &zero, c, kSide) == CUBLAS_STATUS_SUCCESS &&
        cudaDeviceSynchronize() == cudaSuccess && cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS &&
        cudaFree(a) == cudaSuccess && cudaFree(b) == cudaSuccess;
    if (!ran) {
        std::printf("failed\n");
        return 1;
    }
    std::printf("cudaMalloc cuMemAlloc_v2 1 %zu 2\n", kBytes); // c is leaked
    return 0;
}
