// report/words/rank_words.cpp — see rank_words.hpp.
#include "report/words/rank_words.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "report/model/job.hpp"
#include "report/model/report.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

using Numbers = std::vector<std::uint32_t>;

// How many, from `at` on, follow each other by one step.
std::size_t run_length(const Numbers& numbers, std::size_t at)
{
    std::size_t last = at + 1;
    while (last + 1 < numbers.size() &&
           numbers[last + 1] - numbers[last] == numbers[at + 1] - numbers[at])
        ++last;
    return last < numbers.size() ? last - at + 1 : 1;
}

} // namespace

std::string number_ranges(const Numbers& numbers)
{
    constexpr std::size_t kFewestInRun = 3;
    constexpr std::size_t kMostRuns = 6;
    std::string text;
    std::size_t pieces = 0;
    for (std::size_t at = 0; at < numbers.size();) {
        if (++pieces > kMostRuns)
            return text + fmt::format(" and {} more", grouped(numbers.size() - at));
        text += (at > 0 ? ", " : "") + std::to_string(numbers[at]);
        const std::size_t length = run_length(numbers, at);
        if (length < kFewestInRun) {
            ++at;
            continue;
        }
        const std::uint32_t step = numbers[at + 1] - numbers[at];
        text += fmt::format("-{}", numbers[at + length - 1]);
        if (step > 1)
            text += fmt::format(":{}", step);
        at += length;
    }
    return text;
}

std::string part_of_job(const Numbers& numbers, const Numbers& all, bool ranked)
{
    constexpr std::size_t kFewest = 5;
    Job words; // has the nouns
    words.ranked = ranked;
    if (numbers.size() == all.size())
        return all.size() == 1
                   ? fmt::format("{} {}", words.noun(1), all.front())
                   : fmt::format("all {} {}", grouped(all.size()), words.noun(all.size()));
    const std::string ranges = number_ranges(numbers);
    if (numbers.size() >= kFewest && 10 * numbers.size() >= 9 * all.size()) {
        Numbers rest;
        std::set_difference(all.begin(), all.end(), numbers.begin(), numbers.end(),
                            std::back_inserter(rest));
        if (const std::string others = number_ranges(rest); others.size() < ranges.size())
            return fmt::format("all but {} {}", words.noun(rest.size()), others);
    }
    return fmt::format("{} of {} {} ({})", grouped(numbers.size()), grouped(all.size()),
                       words.noun(all.size()), ranges);
}

std::string part_of_job(const Job& job, const Numbers& numbers)
{
    Numbers all;
    for (const JobProcess& process : job.processes)
        all.push_back(process.number);
    return part_of_job(numbers, all, job.ranked);
}

std::string part_of_job(const Report& report, const std::vector<std::size_t>& processes)
{
    const std::vector<RankRow>& rows = report.ranks.rows;
    const bool ranked = std::all_of(rows.begin(), rows.end(),
                                    [](const RankRow& row) { return row.rank.has_value(); });
    std::vector<bool> wanted(report.processes.size());
    for (const std::size_t process : processes)
        wanted[process] = true;
    Numbers numbers;
    Numbers all;
    for (const RankRow& row : rows) {
        all.push_back(ranked ? *row.rank : report.processes[row.process].pid);
        if (wanted[row.process])
            numbers.push_back(all.back());
    }
    for (Numbers* const some : {&numbers, &all}) {
        std::sort(some->begin(), some->end());
        if (ranked) // a rank may have several processes; those of two hosts may have one number
            some->erase(std::unique(some->begin(), some->end()), some->end());
    }
    return part_of_job(numbers, all, ranked);
}

std::string values_of(const JobFinding& finding)
{
    std::string text;
    const auto add = [&text](const char* what, std::uint64_t bytes, const std::string& unit,
                             bool differs) {
        if (bytes > 0)
            text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", what, human_bytes(bytes),
                                unit, differs ? " on average" : "");
    };
    add("leaked", finding.leaked_bytes, "", finding.leaked_differs);
    add("held at the end", finding.held_bytes, "", finding.held_differs);
    add("grows by", finding.growth_bytes_per_step, fmt::format(" per {}", step_noun(finding.step)),
        finding.growth_differs);
    add("at peak", finding.at_peak_bytes, "", finding.at_peak_differs);
    if (finding.kind == JobFindingKind::far_off)
        text += fmt::format(", usually {}", human_bytes(finding.usual_bytes));
    return text;
}

std::string run_out_words(const Job& job)
{
    const JobHeadroom& first = *job.runs_out_first;
    const std::string grows = fmt::format("{} {}, which grows by {} per second: ", job.noun(1),
                                          first.rank, human_bytes(first.growth_bytes_per_second));
    if (first.free_bytes() == 0)
        return grows + "nothing is left";
    return grows + fmt::format("its {} of headroom last about {}", human_bytes(first.free_bytes()),
                               rough_time(first.full_after_ns().value_or(0)));
}

} // namespace vramscope::report
