// report/model/verdict.hpp — what a report proves.
#pragma once

#include "report/model/fields.hpp"

namespace vramscope::report {

enum class Verdict {
    clean,
    leaks,
    inconclusive, // Report::reasons says why; the leaks are listed all the same
};
template <>
struct Words<Verdict> {
    static constexpr format::Word<Verdict> kAll[] = {{Verdict::clean, "clean"},
                                                     {Verdict::leaks, "leaks"},
                                                     {Verdict::inconclusive, "inconclusive"}};
};

} // namespace vramscope::report
