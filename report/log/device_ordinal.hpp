// report/log/device_ordinal.hpp — which numbers are taken for a device's.
#pragma once

#include <cstdint>

namespace vramscope::report {

inline constexpr std::int64_t kMostOrdinals = 1024;

// -1: the device is not known, or the number is none that a device can have.
constexpr std::int32_t device_ordinal(std::int64_t logged) noexcept
{
    return logged < 0 || logged >= kMostOrdinals ? -1 : static_cast<std::int32_t>(logged);
}

} // namespace vramscope::report
