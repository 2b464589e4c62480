// interpose/frameworks/suballocations.hpp — blocks that an allocator of the program's own cuts.
//
// It took device memory from the driver, and hands out pieces of it: PyTorch's caching allocator is
// one. Whoever knows of such a block tells it here, and the log has it as an allocation of
// Memory::suballocated. Which allocation of the driver's it lies in follows from its address.
//
// Any thread, with any lock of the program's held: the driver is not asked, and no lock is taken
// beyond those of the recorder. Nothing is recorded before a log is open, since there is then no
// memory of the driver's that a block could lie in; a child of fork has no log at first.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/hooks/hook.hpp"

namespace vramscope::hooks {

// One that the program has named, as a heap of NVTX's. A name that is too long is cut; where there
// are very many names, the last ones share one.
Allocator allocator_named(std::string_view name) noexcept;

// The log's number for what allocates its blocks.
constexpr std::uint64_t api_allocating(Allocator allocator) noexcept
{
    return kHooks + 2 * static_cast<std::uint64_t>(allocator);
}

// `device`: its ordinal; -1: it is not known.
void block_cut(Allocator allocator, const log::CallSite& site, std::uint64_t address,
               std::uint64_t bytes, std::int64_t device) noexcept;
// To be told before the block's place can be handed out again.
void block_returned(Allocator allocator, const log::CallSite& site, std::uint64_t address) noexcept;
// The program names a block that it has.
inline constexpr std::string_view kKeepsName{}; // that of the block before it at its address
void block_named(Allocator allocator, std::uint64_t address, std::string_view name) noexcept;
// All its blocks that lie in these addresses were taken back at once.
void blocks_returned(Allocator allocator, std::uint64_t address, std::uint64_t bytes) noexcept;
// It could not serve a request. What it does not know of `state`, as the driver's numbers, is 0.
void ran_out(Allocator allocator, const log::CallSite& site,
             const format::OutOfMemory& state) noexcept;

} // namespace vramscope::hooks
