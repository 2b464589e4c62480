// report/findings/pool.hpp — what the internal pool held, and the program's own allocators.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/memory/free_pieces.hpp"
#include "report/findings/places/stack_reader.hpp"
#include "report/log/tick_clock.hpp"
#include "report/model/pool.hpp"
#include "report/replay/allocators.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/pool/segment_replay.hpp"

namespace vramscope::report {

// `stacks`: reads the owners of the maps' blocks; nullptr: they are not wanted.
PoolReport describe_pool(const SegmentReplay& replay, const DeviceMemory& memory,
                         const LogTables& tables, const TickClock& clock, std::uint64_t end_ns,
                         StackReader* stacks);

// The program's own allocators as `heap` has them now, which is the log's end.
std::vector<AllocatorMap> describe_allocators(HeapReplay& heap, const DeviceMemory& memory,
                                              std::uint64_t end_ns, StackReader& stacks);

} // namespace vramscope::report
