// report/words/mempool_words.hpp — what a pool of the driver's kept, as a person reads it.
#pragma once

#include <string>

#include "report/model/shortages.hpp"

namespace vramscope::report {

// "the driver's default pool kept 600 MiB that nothing used, first taken at stage() x.cu:8".
std::string kept_by(const Mempool& pool);

// "refused though 1022 MiB were free: in which pieces, only the driver knows".
std::string refused_though_free(const Shortage& shortage);
// "above the maximum of 64 MiB that a pool of the driver's has, 0 B of which were in use"; "above
// the 246 MiB that per_process_memory_fraction=0.01 allows, 240 MiB of which were reserved".
std::string above_its_maximum(const Shortage& shortage);

// What gives such memory back.
inline constexpr const char* kMempoolRemedy =
    "cudaMemPoolTrimTo() gives it back, or a lower release threshold of the pool";

} // namespace vramscope::report
