// report/job/ends.cpp — see ends.hpp.
#include "report/job/ends.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace vramscope::report {
namespace {

struct TimedEnd {
    JobEnd end;
    std::uint64_t first_ns = UINT64_MAX; // when that of `first` was
};

} // namespace

std::vector<JobEnd> ends_of(const std::vector<JobProcess>& processes)
{
    std::map<std::string, TimedEnd> by_words;
    for (const JobProcess& process : processes) {
        if (process.verdict != Verdict::inconclusive && !process.failed())
            continue;
        TimedEnd& known = by_words[process.end];
        known.end.words = process.end;
        known.end.crashed = process.crashed;
        known.end.failed = process.failed();
        if (known.end.ranks.empty() || process.last_seen_ns < known.first_ns) {
            known.first_ns = process.last_seen_ns;
            known.end.first = process.number;
        }
        known.end.ranks.push_back(process.number);
    }
    std::vector<TimedEnd> order;
    for (auto& [words, known] : by_words)
        order.push_back(std::move(known));
    std::stable_sort(order.begin(), order.end(), [](const TimedEnd& a, const TimedEnd& b) {
        return std::tuple(!a.end.by_own_fault(), a.first_ns) <
               std::tuple(!b.end.by_own_fault(), b.first_ns);
    });
    std::vector<JobEnd> ends;
    for (TimedEnd& known : order)
        ends.push_back(std::move(known.end));
    return ends;
}

} // namespace vramscope::report
