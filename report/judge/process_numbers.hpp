// report/judge/process_numbers.hpp — the numbers of a whole process that a budget may limit.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "report/model/check.hpp"

namespace vramscope::report {

struct Process;
struct Report;

struct ProcessNumber {
    const char* budget;
    const char* called;
    CheckUnit unit;
    std::optional<double> (*limit)(const Budget& budget);
    double (*read)(const Process& process);
    // Of a process, the largest first.
    std::vector<Culprit> (*culprits)(const Report& report, std::size_t process) = nullptr;
    bool is_sure = true; // however the process ended, and whatever is missing
    // Why the log does not say; empty: it does.
    const char* (*unknown)(const Process& process) = nullptr;
};

extern const std::array<ProcessNumber, 6> kProcessNumbers; // in the order of the options

} // namespace vramscope::report
