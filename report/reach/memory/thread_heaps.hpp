// report/reach/memory/thread_heaps.hpp — the heaps that glibc's malloc maps for threads.
#pragma once

#include <optional>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

inline constexpr Address kThreadHeapBytes = 64 << 20; // at most, and what they align to

struct ThreadHeap : AddressSpan {
    Address first_chunk = 0; // 0: it is not known how it is cut
};

// The heap that begins at this multiple of kThreadHeapBytes; none: there is none that ends in time.
std::optional<ThreadHeap> thread_heap_at(const ProcessMemory& memory, Address begin, Address end);

} // namespace vramscope::report
