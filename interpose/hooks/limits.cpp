// interpose/hooks/limits.cpp — free memory minus what the smaller device does not have.
#include "interpose/hooks/limits.hpp"

#include <algorithm>

#include "interpose/hooks/driver.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "tracker/log/settings.hpp"

namespace vramscope::hooks {

bool within_limit(std::uint64_t bytes) noexcept
{
    const std::uint64_t limit = log::settings().limit_bytes;
    const Driver* driver = limit != ~std::uint64_t{0} ? Driver::find() : nullptr;
    if (!driver || !driver->memory_info)
        return true;
    std::size_t free = 0;
    std::size_t total = 0;
    if (in_driver(log::this_thread, [&] { return driver->memory_info(&free, &total); }) !=
        CUDA_SUCCESS)
        return true;
    const std::uint64_t used = total - std::min(free, total);
    return used <= limit && bytes <= limit - used;
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
