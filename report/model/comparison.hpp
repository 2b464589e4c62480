// report/model/comparison.hpp — two reports of one program side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/check.hpp"

namespace vramscope::report {

enum class Change { added, grown, same, shrunk, gone };

// One call stack's bytes and blocks, before and after.
struct ComparedPlace {
    const CallPlace* place = nullptr; // in the newer report, if it is in both
    Change change = Change::same;
    std::uint64_t base_bytes = 0;
    std::uint64_t base_count = 0; // blocks in the first report
    std::uint64_t new_bytes = 0;
    std::uint64_t new_count = 0;
};

struct ComparedNumber {
    std::string name; // as in the JSON: "peak_bytes"
    CheckUnit unit = CheckUnit::bytes;
    std::uint64_t base = 0;
    std::uint64_t now = 0;
    bool regressed = false; // more than the tolerance allows
};

struct Comparison {
    enum class Verdict { same, better, worse, inconclusive, nothing_observed };

    Verdict verdict = Verdict::inconclusive;
    Exit exit = Exit::incomplete; // what --fail-on-regression ends with
    std::vector<ComparedNumber> numbers;
    std::vector<ComparedPlace> leaks; // the largest change for the worse first; no `same`
    std::uint64_t same_leaks = 0;
    // What had more or less at the peak, of the call stacks that both sides know. On each side, the
    // peak is that of the device where it was highest.
    std::vector<ComparedPlace> peak;
    // What allocated more often or less often, by all blocks of the run; also by call stack.
    std::vector<ComparedPlace> churn;
    std::vector<std::string> doubts; // one line each: "base: …", "new: …"
};

const char* name(Change change) noexcept;
const char* name(Comparison::Verdict verdict) noexcept;

} // namespace vramscope::report
