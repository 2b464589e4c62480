// tests/support/sizes.hpp — sizes as people write them.
#pragma once

#include <cstdint>

namespace vramscope::test {

constexpr std::uint64_t operator""_KiB(unsigned long long value)
{
    return value * 1024;
}
constexpr std::uint64_t operator""_MiB(unsigned long long value)
{
    return value * 1024 * 1024;
}
constexpr std::uint64_t operator""_GiB(unsigned long long value)
{
    return value * 1024 * 1024 * 1024;
}

} // namespace vramscope::test
