// report/reach/memory/freed_lists.hpp — what a heap of glibc's begins with.
//
// The first chunk of the main heap, and of each thread's, has the thread's lists of freed chunks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::report {

struct FreedLists {
    std::uint64_t chunk_bytes;
    std::size_t count;
};
inline constexpr FreedLists kFreedLists[] = {
    {0x290, 64}, // of 2.30 and later
    {0x300, 76}, // of 2.42 and later
};
inline constexpr std::uint64_t kBeforeIsInUse =
    1; // of the word with its bytes: so is the chunk before

} // namespace vramscope::report
