// report/findings/misuse.hpp — frees that were wrong, and all other calls that the driver refused.
//
// Calls are one row when process, kind and all their visible stacks agree. What cannot be proven
// from the log is no row here: a free that was refused of a block that was there is a failed call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/misuse.hpp"
#include "report/replay/misuse.hpp"

namespace vramscope::report {

TimedCall read_call(const LoggedCall& call, const CallSource& source);
std::optional<TimedCall> read_call_if_any(const LoggedCall& call, const CallSource& source);
std::string key_of(const std::optional<TimedCall>& call);

// The rows in the order of their first times.
template <typename Row, typename FirstTime>
std::vector<Row> rows_by_time(std::map<std::string, Row>& rows, FirstTime first_time)
{
    std::vector<Row> sorted;
    for (auto& [key, row] : rows)
        sorted.push_back(std::move(row));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Row& a, const Row& b) { return first_time(a) < first_time(b); });
    return sorted;
}

// Both give rows in the order of their first calls.
std::vector<Misuse> find_misuse(const std::vector<LoggedMisuse>& logged, const CallSource& source);
std::vector<FailedCall> find_failed_calls(const std::vector<FailedGroup>& groups,
                                          const CallSource& source);

// "cudaFree of 0x7f0000000000, allocated at main (a.cpp:12), first freed at …": what a free that
// never came back was.
std::string describe_free(const LoggedMisuse& free, const CallSource& source);

} // namespace vramscope::report
