// report/findings/memory/free_pieces.hpp — what the pool could have handed out at one moment.
//
// Also how little of it is of use.
#pragma once

#include <cstdint>

#include "report/model/waterfall.hpp"
#include "report/replay/pool/piece_sizes.hpp"
#include "report/replay/request_sizes.hpp"

namespace vramscope::report {

inline FreePieces free_pieces(const PieceSizes& free, const RequestSizes& requests)
{
    return {.bytes = free.bytes(),
            .pieces = free.pieces(),
            .largest = free.largest(),
            .largest_request = requests.largest(),
            .unusable_for_largest = free.unusable_for(requests.largest()),
            .unusable_mean =
                requests.mean([&free](std::uint64_t size) { return free.unusable_for(size); })};
}

} // namespace vramscope::report
