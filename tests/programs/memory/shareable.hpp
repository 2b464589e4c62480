// tests/programs/memory/shareable.hpp — pools that others can open, and the sizes of the scenes.
#pragma once

#include "tests/programs/scenes.hpp"

inline constexpr std::size_t kBytes = 3000;
inline constexpr std::size_t kPhysical = 2 << 20;
inline constexpr auto kFd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

// What the toolkit's headers are too old for.
[[noreturn]] inline void too_old()
{
    std::exit(4);
}

inline CUmemPoolProps pool_props()
{
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = kFd;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return props;
}
