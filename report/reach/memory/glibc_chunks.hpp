// report/reach/memory/glibc_chunks.hpp — chunks, of which glibc's malloc makes its heaps.
//
// A chunk begins with the size of the one before, if that is free, and its own size, whose three
// lowest bits are flags. The first chunk of the main heap, and of each thread's, has the lists of
// what the thread freed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::report {

inline constexpr std::uint64_t kBeforeIsInUse = 1; // the chunk before
inline constexpr std::uint64_t kHasOwnMapping = 2;
inline constexpr std::uint64_t kOfThreadHeap = 4;
inline constexpr std::uint64_t kChunkFlags = 7;
inline constexpr std::uint64_t kLeastChunk = 32, kChunkAlignment = 16; // bytes

struct FreedLists {
    std::uint64_t chunk_bytes;
    std::size_t count;
};
inline constexpr FreedLists kFreedLists[] = {
    {0x290, 64}, // of 2.30 and later
    {0x300, 76}, // of 2.42 and later
};

} // namespace vramscope::report
