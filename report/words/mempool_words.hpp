// report/words/mempool_words.hpp — what a pool of the driver's kept, as a person reads it.
#pragma once

#include <string>

#include "report/model/memory/mempool.hpp"

namespace vramscope::report {

// "the driver's default pool kept 600 MiB that nothing used, first taken at stage() x.cu:8".
std::string kept_by(const Mempool& pool);

// What gives such memory back.
inline constexpr const char* kMempoolRemedy =
    "cudaMemPoolTrimTo() gives it back, or a lower release threshold of the pool";

} // namespace vramscope::report
