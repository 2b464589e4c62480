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

// Why nobody knows, and how it failed, if it did.
std::string words_of(const JobProcess& process)
{
    if (process.doubt.empty())
        return process.end;
    return process.failed() ? process.end + "; " + process.doubt : process.doubt;
}

std::string without_digits(std::string words)
{
    std::erase_if(words, [](char c) { return (c >= '0' && c <= '9') || c == ','; });
    return words;
}

struct TimedEnd {
    JobEnd end;
    std::uint64_t first_ns = UINT64_MAX; // when that of `first` was
};

} // namespace

std::vector<JobEnd> ends_of(const std::vector<JobProcess>& processes)
{
    std::map<std::string, TimedEnd> by_words; // of doubts without numbers, which each may have
    for (const JobProcess& process : processes) {
        if (process.verdict != Verdict::inconclusive && !process.failed())
            continue;
        std::string words = words_of(process);
        TimedEnd& known = by_words[process.doubt.empty() ? words : without_digits(words)];
        if (known.end.words.empty())
            known.end.words = std::move(words);
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
