// report/log/lost_chunks.hpp — chunks that were begun and are zeros now: a page was lost, or a hole
// is left.
#pragma once

#include <cstdint>
#include <span>

#include "report/log/log_file.hpp"

namespace vramscope::report {

struct EmptyRun { // positions
    std::uint32_t first;
    std::uint32_t end;
};

struct EmptyChunks {
    std::uint64_t lost = 0;    // they were begun
    std::uint64_t unknown = 0; // a busy thread may have got them in advance
};
// `begun`: how many chunks have a magic, right or wrong; `empty`: the others, in order. Only
// a log before 4.1 does not say how many were begun; of its empty chunks the first few thousand are
// judged by the chunks before them.
EmptyChunks judge_empty_chunks(const LogFile& file, std::uint64_t begun,
                               std::span<const EmptyRun> empty);

} // namespace vramscope::report
