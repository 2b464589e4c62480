// report/replay/pool/piece_sizes.hpp — the free pieces of the pool at one moment, by size.
//
// Also how little of them a request can use.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "report/replay/pool/pool_snapshot.hpp"

namespace vramscope::report {

class PieceSizes {
public:
    explicit PieceSizes(const PoolSnapshot& snapshot);

    std::uint64_t bytes() const noexcept { return bytes_; } // of all
    std::uint64_t pieces() const noexcept { return pieces_; }
    std::uint64_t largest() const noexcept { return sizes_.empty() ? 0 : sizes_.back().first; }

    // The part of the free bytes that requests of this size can not be served from, however many
    // come: 1 - sum of floor(piece / size) * size / bytes. 1 where nothing is free.
    double unusable_for(std::uint64_t size) const;
    // 0: too little is free. Towards 1: enough is free, in too many pieces. -1: a piece is large
    // enough for the request.
    double fragmentation_for(std::uint64_t size) const;

private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes_; // size and count, by size
    std::uint64_t bytes_ = 0;
    std::uint64_t pieces_ = 0;
};

} // namespace vramscope::report
