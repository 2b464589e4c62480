// report/judge/doubts_of_run.cpp — why a run does not show that its program keeps to anything.
#include <algorithm>

#include <fmt/format.h>

#include "report/judge/judge.hpp"
#include "report/words/check_words.hpp"
#include "report/words/rank_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// Perhaps before it came to where it would have leaked.
void add_failures(std::vector<std::string>& doubts, const Report& report)
{
    for (const Process& process : report.processes)
        if (has_failed(process))
            doubts.push_back(
                fmt::format("{}the program failed: it {}",
                            report.processes.size() > 1 ? process_name(report, process) + ": " : "",
                            describe(process.end)));
}

} // namespace

// By the process's own word; reasons_for_doubt() tells what a crash is.
bool has_failed(const Process& process)
{
    const ProcessEnd& end = process.end;
    return end.conclusive() && end.kind != ProcessEnd::Kind::replaced && end.status != 0;
}

std::string doubt_of_ranks(const Report& report)
{
    const std::vector<std::uint32_t>& missing = report.ranks.missing;
    const std::vector<RankRow>& rows = report.ranks.rows; // by rank
    const bool of_several = std::any_of(rows.begin(), rows.end(), [&](const RankRow& row) {
        return row.rank && row.rank != rows.front().rank;
    });
    if (!of_several || report.interrupted || missing.empty())
        return {};
    return fmt::format("there is no log of rank{} {}: no CUDA call was made there, or the log is "
                       "elsewhere",
                       missing.size() == 1 ? "" : "s", number_ranges(missing));
}

std::vector<std::string> doubts_of_run(const Report& report)
{
    std::vector<std::string> doubts = report.reasons;
    add_failures(doubts, report);
    return doubts;
}

} // namespace vramscope::report
