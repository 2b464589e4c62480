// interpose/serve/contexts/limits.cpp — free memory minus what the smaller device does not have.
#include "interpose/serve/contexts/limits.hpp"

#include <algorithm>

#include "interpose/hooks/driver.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "interpose/serve/contexts/captures.hpp"

namespace vramscope::hooks {

bool ask_driver(std::size_t& free, std::size_t& total) noexcept
{
    const Driver* driver = Driver::find();
    return driver && driver->memory_info && in_driver(log::this_thread, [&] {
                                                return driver->memory_info(&free, &total);
                                            }) == CUDA_SUCCESS;
}

bool asks_within_limit(std::uint64_t bytes) noexcept
{
    const std::uint64_t limit = log::settings().limit_bytes;
    std::size_t free = 0;
    std::size_t total = 0;
    if (!ask_driver(free, total))
        return true;
    if (bytes > total) // the driver refuses it too, and it may know a better reason
        return true;
    const std::uint64_t used = total - std::min(free, total);
    return used <= limit && bytes <= limit - used;
}

bool fits(const Call& call, std::uint64_t bytes) noexcept
{
    // Managed memory may be larger than its device.
    return log::settings().limit_bytes == log::kNoBytes || !takes_device_memory(call.hook) ||
           info(call.hook).memory == format::Memory::managed || within_limit(bytes);
}

// It is asked for more than any device has.
CUresult answer_of_captures() noexcept
{
    const auto real =
        reinterpret_cast<decltype(&::cuMemAlloc_v2)>(real_function(Hook::cuMemAlloc_v2));
    if (!capturing() || !real)
        return CUDA_SUCCESS;
    CUdeviceptr none = 0;
    const CUresult result =
        in_driver(log::this_thread, [&] { return real(&none, std::uint64_t{1} << 62); });
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CUDA_SUCCESS : result;
}

bool ask_mempool(const Driver& driver, CUmemoryPool pool, MempoolBytes& bytes) noexcept
{
    return driver.pool_attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes.reserved) ==
               CUDA_SUCCESS &&
           driver.pool_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes.used) ==
               CUDA_SUCCESS;
}

std::uint64_t unused_bytes(CUmemoryPool pool) noexcept
{
    const Driver* driver = log::settings().limit_bytes != log::kNoBytes ? Driver::find() : nullptr;
    if (!driver || !driver->context_device || !driver->device_pool || !driver->pool_attribute)
        return 0;
    return in_driver(log::this_thread, [&]() -> std::uint64_t {
        CUdevice device = 0;
        if (!pool && (driver->context_device(&device) != CUDA_SUCCESS ||
                      driver->device_pool(&pool, device) != CUDA_SUCCESS))
            return 0;
        MempoolBytes bytes;
        return ask_mempool(*driver, pool, bytes)
                   ? bytes.reserved - std::min(bytes.reserved, bytes.used)
                   : 0;
    });
}

std::uint64_t device_bytes() noexcept
{
    std::size_t free = 0;
    std::size_t total = 0;
    return ask_driver(free, total) ? total : ~std::uint64_t{0};
}

void apply_limit(std::uint64_t& free, std::uint64_t& total) noexcept
{
    const std::uint64_t missing = total - limited_total(total);
    free -= std::min(free, missing);
    total -= missing;
}

std::uint64_t limited_total(std::uint64_t total) noexcept
{
    return std::min(total, log::settings().limit_bytes);
}

} // namespace vramscope::hooks
