// report/findings/timed_calls.hpp — calls with their stacks: misuse and damage have several.
#pragma once

#include <algorithm>
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

} // namespace vramscope::report
