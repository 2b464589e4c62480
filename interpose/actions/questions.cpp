// interpose/actions/questions.cpp — which attributes of a pointer a pool must see to.
#include "interpose/actions/questions.hpp"

#include "tracker/environment/tell.hpp"

namespace vramscope::hooks {
namespace {

template <class T>
void put(void* out, T value) noexcept
{
    *static_cast<T*>(out) = value;
}

} // namespace

CUresult refuse(Call& call) noexcept
{
    static constinit std::atomic<bool> told[kHooks]{};
    if (!told[call.api()].exchange(true))
        log::tell("%s: this memory is part of a larger allocation of the pool, which cannot do it "
                  "truthfully; run with VRAMSCOPE_POOL=cache",
                  info(call.hook).symbol());
    return CUDA_ERROR_NOT_SUPPORTED;
}

// GPUDirect takes the driver's allocation as a whole.
bool AsksAttributes::exports_memory() const noexcept
{
    for (unsigned i = 0; i < count; ++i)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
            return true;
    return false;
}

void AsksAttributes::correct(const Found& block) const noexcept
{
    if (exports_memory())
        pin(block);
    if (block.exact)
        return;
    constexpr unsigned long long kOurs = 1ull << 63; // no number of the driver's is so large
    for (unsigned i = 0; i < count; ++i) {
        if (!data[i])
            continue;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
            put<CUdeviceptr>(data[i], block.address);
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
            put<std::size_t>(data[i], block.bytes);
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID && !block.whole)
            put<unsigned long long>(data[i], kOurs | block.serial);
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE ||
                 attributes[i] == CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE)
            put<unsigned char>(data[i], 0); // we refuse it; the least that a driver writes
    }
}

} // namespace vramscope::hooks
