// report/replay/allocators.hpp — what the program's own allocators have now, piece by piece.
#pragma once

#include <cstdint>
#include <vector>

#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/pool/pool_snapshot.hpp"

namespace vramscope::report {

struct AllocatorPieces {
    std::uint64_t api = 0; // of the blocks, which tells the allocator
    std::int32_t device = -1;
    PoolSnapshot pieces; // all of them: nothing is cut
};

// Its segments on a device and the live blocks in them. A walk over all blocks.
PoolSnapshot pieces_of(HeapReplay& heap, std::uint64_t api, std::int32_t device);

// The same of each allocator and device, by their numbers; empty where no allocator told of itself.
std::vector<AllocatorPieces> allocators_now(HeapReplay& heap);

} // namespace vramscope::report
