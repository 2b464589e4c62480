// interpose/serve/shortage.hpp — device memory that is short: what is cached goes back, and the log
// is told.
//
// Any thread, inside a hook, with no lock held.
#pragma once

#include "interpose/actions/allocations.hpp"
#include "interpose/serve/driver_upstream.hpp"

namespace vramscope::hooks {

// Gives what is cached for this device back to the driver; `except` is empty already. Bytes.
std::uint64_t give_back(std::int64_t device, const DriverUpstream* except) noexcept;
std::uint64_t releasable_bytes(std::int64_t device) noexcept;
// Of an entry point, as the table says.
bool takes_device_memory(Hook hook) noexcept;
// Memory was short in an entry point that the pool does not serve. True: try it again.
bool make_room_for(Call& call) noexcept;
void record_out_of_memory(Call& call, std::uint64_t requested) noexcept;

} // namespace vramscope::hooks
