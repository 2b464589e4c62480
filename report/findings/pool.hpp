// report/findings/pool.hpp — what the internal pool held, device by device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/memory/free_pieces.hpp"
#include "report/findings/places/stack_reader.hpp"
#include "report/log/tick_clock.hpp"
#include "report/model/pool.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/pool/segment_replay.hpp"

namespace vramscope::report {

// `stacks`: reads the owners of the maps' blocks; nullptr: they are not wanted.
PoolReport describe_pool(const SegmentReplay& replay, const DeviceMemory& memory,
                         const LogTables& tables, const TickClock& clock, std::uint64_t end_ns,
                         StackReader* stacks);

} // namespace vramscope::report
