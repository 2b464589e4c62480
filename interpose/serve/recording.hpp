// interpose/serve/recording.hpp — what became of a call, as the log is told.
//
// The thread must be ready. How much memory is free is asked behind an allocation that reached
// the driver (device_memory.hpp).
#pragma once

#include "interpose/hooks/call.hpp"

namespace vramscope::hooks {

void record_allocation(Call& call, std::uint64_t address, std::uint64_t bytes,
                       const format::Place& place);
// Records an allocation whose block, in a segment of the pool, is `slack` bytes larger
// than asked for.
void record_pooled(Call& call, std::uint64_t address, std::uint64_t bytes,
                   const format::Place& place, std::uint64_t slack);
// The driver refused to free this. Any call, ready or not.
void record_bad_free(Call& call, CUresult result, std::uint64_t address);

} // namespace vramscope::hooks
