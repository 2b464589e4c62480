// tests/corpus/ranges.hpp — NVTX for the programs of the corpus that use it. The header is all of
// NVTX: it takes longer to compile than the rest of such a program.
#pragma once

#include <nvtx3/nvToolsExt.h>

// An NVTX range for as long as it lives.
struct Range {
    explicit Range(const char* name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};
