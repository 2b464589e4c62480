// interpose/serve/contexts/limits.hpp — VRAMSCOPE_LIMIT: a device as if it were smaller.
//
// It is the device of the current context. What the driver says is used, by any process, counts
// against the limit, as it would on a smaller device. It costs a question to the driver for each
// allocation that reaches it, and nothing without a limit.
#pragma once

#include <cstdint>

#include "interpose/hooks/call.hpp"
#include "interpose/hooks/hook.hpp"
#include "tracker/environment/settings.hpp"

namespace vramscope::hooks {

class Driver;

bool asks_within_limit(std::uint64_t bytes) noexcept;
// False: a device of the limit's size would have no room for this.
inline bool within_limit(std::uint64_t bytes) noexcept
{
    return log::settings().limit_bytes == log::kNoBytes || asks_within_limit(bytes);
}

// An allocation of device memory that asks for `bytes`: false where the limit refuses it.
bool fits(const Call& call, std::uint64_t bytes) noexcept;

// What the driver says of an allocation that the limit refuses while a stream is captured. Success:
// no capture forbids it. Else the driver has broken the capture, as it would have without a limit.
CUresult answer_of_captures() noexcept;

// What the driver's pool holds unused: an allocation from it takes no more of the device. Null: the
// pool of the current context's device. 0 without a limit, where it does not matter.
std::uint64_t unused_bytes(CUmemoryPool pool) noexcept;

// What one of the driver's own pools has taken from the device, and what of that it has given out.
struct MempoolBytes {
    cuuint64_t reserved = 0;
    cuuint64_t used = 0;
};
// From inside a driver call of ours. False: the driver does not say.
bool ask_mempool(const Driver& driver, CUmemoryPool pool, MempoolBytes& bytes) noexcept;

// Memory of the current context's device, as the driver says. False: the driver does not say.
bool ask_driver(std::size_t& free, std::size_t& total) noexcept;
// All memory of the current context's device, as the driver says.
std::uint64_t device_bytes() noexcept;

// The driver's numbers, as such a device would have them.
void apply_limit(std::uint64_t& free, std::uint64_t& total) noexcept;
std::uint64_t limited_total(std::uint64_t total) noexcept;

} // namespace vramscope::hooks
