// report/model/verdict.hpp — what a report proves.
#pragma once

namespace vramscope::report {

enum class Verdict {
    clean,
    leaks,
    inconclusive, // Report::reasons says why; the leaks are listed all the same
};

const char* name(Verdict verdict) noexcept;

} // namespace vramscope::report
