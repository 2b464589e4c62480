// tools/simgpu/driver/memory/copy_batch_api.cpp — cuMemcpyBatchAsync: one copy after the other.
//
// The source is read as cuMemcpyAsync reads it, which every access order allows that a program
// may ask for.
#include "api.hpp"
#include "tools/simgpu/driver/memory/copy.hpp"

#if CUDA_VERSION >= 12080
namespace simgpu {
namespace {

// A senseless count is an error before any row is read.
constexpr size_t kMostRows = 4096;

CUresult copy_batch(const CUdeviceptr* to, const CUdeviceptr* from, const size_t* sizes,
                    size_t count, const CUmemcpyAttributes* attributes, const size_t* starts,
                    size_t attribute_count, size_t& failed, CUstream stream)
{
    const bool known = to && from && sizes && attributes && starts;
    if (!known || count == 0 || count > kMostRows || attribute_count == 0 ||
        attribute_count > count || starts[0] != 0 || stream == nullptr ||
        stream == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t row = 0; row < count; ++row) {
        const Copy shape{{to[row], 0, 0, false}, {from[row], 0, 0, false}, {sizes[row], 1, 1}};
        if (const CUresult error = copy(stream, shape, Return::when_queued)) {
            failed = row;
            return error;
        }
    }
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                            size_t* failIdx, CUstream hStream)
{
    size_t failed = SIZE_MAX;
    const CUresult result =
        copy_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failed, hStream);
    if (result != CUDA_SUCCESS && failIdx)
        *failIdx = failed;
    return result;
}

#if CUDA_VERSION >= 13000
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                               CUstream hStream)
{
    size_t failed = SIZE_MAX;
    return copy_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failed, hStream);
}
#endif

} // namespace api
} // namespace simgpu
#endif
