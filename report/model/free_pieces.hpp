// report/model/free_pieces.hpp — what the pool could have handed out at one moment, and how little
// of it is of use.
#pragma once

#include <cstdint>

namespace vramscope::report {

// For a size s, the *unusable* part of the free bytes is 1 - sum of floor(piece / s) * s / all
// free bytes; 1 if none is free.
struct FreePieces {
    std::uint64_t bytes = 0;
    std::uint64_t pieces = 0;
    std::uint64_t largest = 0;
    std::uint64_t largest_request = 0; // of the whole log, as the pool rounded it; 0: none
    double unusable_for_largest = 1;
    double unusable_mean = 1; // over all requests of the log, each with its own size
};

} // namespace vramscope::report
