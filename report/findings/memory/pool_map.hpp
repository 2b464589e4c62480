// report/findings/memory/pool_map.hpp — a moment's segments become a map, with the blocks' owners.
#pragma once

#include <cstdint>

#include "report/findings/places/stack_reader.hpp"
#include "report/model/pool.hpp"
#include "report/replay/pool/pool_snapshot.hpp"

namespace vramscope::report {

// Without its free pieces. `stacks`: reads the owners; nullptr: they are not wanted.
PoolMap map_of(PoolSnapshot&& snapshot, std::uint64_t ns, StackReader* stacks);

} // namespace vramscope::report
