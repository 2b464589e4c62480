// report/log/device_ordinal.hpp — which numbers are taken for a device's.
#pragma once

#include <cstdint>

namespace vramscope::report {

// -1: the device is not known, or the number is none that a device can have.
constexpr std::int32_t device_ordinal(std::int64_t logged) noexcept
{
    constexpr std::int64_t kMostDevices = 1024;
    return logged < 0 || logged >= kMostDevices ? -1 : static_cast<std::int32_t>(logged);
}

} // namespace vramscope::report
