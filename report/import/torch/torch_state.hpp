// report/import/torch/torch_state.hpp — what PyTorch's allocator held on one device, at one moment.
//
// A snapshot has the state at its end, and the last events before it. Rolled back over these it is
// the state before the first of them.
#pragma once

#include <cstdint>
#include <map>

#include "report/import/torch/torch_snapshot.hpp"

namespace vramscope::report {

struct HeldMemory { // a segment, or a piece of one that can grow
    std::uint64_t bytes = 0;
    std::uint32_t stack = 0;
    std::uint32_t stream = 0;
    std::uint16_t pool = 0;
    bool small = false;
};

struct HeldBlock {
    std::uint64_t bytes = 0;
    std::uint32_t stack = 0;
    std::uint32_t stream = 0;
    std::uint16_t pool = 0;
    bool exact = true; // else bytes are those of its place
};

struct TorchState {
    // By address. Mapped memory is in pieces of 2 MiB, as it may go in others than it came.
    std::map<std::uint64_t, HeldMemory> segments;
    std::map<std::uint64_t, HeldMemory> mapped;
    std::map<std::uint64_t, HeldBlock> blocks;
    std::map<std::uint64_t, HeldBlock> pending; // the program's no longer, and not free yet
    std::uint64_t inconsistent = 0;             // events that do not fit to what follows

    const HeldMemory* around(std::uint64_t address) const; // nullptr: none
};

inline constexpr std::uint64_t kMappedPiece = 2 << 20;

// visit(address, bytes) for each piece of mapped memory. False: no memory is that large.
template <typename Visit>
bool for_each_piece(std::uint64_t address, std::uint64_t bytes, Visit visit)
{
    constexpr std::uint64_t kMostPieces = 1 << 20;
    if (bytes > kMostPieces * kMappedPiece || address > UINT64_MAX - bytes)
        return false;
    for (std::uint64_t at = 0; at < bytes; at += kMappedPiece)
        visit(address + at, bytes - at < kMappedPiece ? bytes - at : kMappedPiece);
    return true;
}

TorchState state_at_end(const TorchSnapshot& snapshot, std::int64_t device);
// Before the first event of the trace.
TorchState state_before(const TorchSnapshot& snapshot, std::int64_t device,
                        const TorchTrace& trace);

} // namespace vramscope::report
