// report/judge/processes_with.cpp — by the rows of each kind.
#include "report/judge/processes_with.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace vramscope::report {
namespace {

using Indexes = std::vector<std::size_t>;

template <typename Row, typename Counts>
Indexes owners_of(const std::vector<Row>& rows, Counts counts)
{
    Indexes owners;
    for (const Row& row : rows)
        if (counts(row))
            owners.push_back(row.process);
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    return owners;
}

template <typename Has>
Indexes those_that(const Report& report, Has has)
{
    Indexes processes;
    for (std::size_t at = 0; at < report.processes.size(); ++at)
        if (has(report.processes[at]))
            processes.push_back(at);
    return processes;
}

// Of several processes those count that prove what they leaked.
Indexes leaking(const Report& report)
{
    const bool all = report.verdict == Verdict::leaks;
    if (!all && (report.processes.size() == 1 || report.interrupted))
        return {};
    return those_that(report, [all](const Process& process) {
        return all ? process.totals.leaks()
                   : process.doubts.empty() && process.totals.leaked_blocks > 0;
    });
}

} // namespace

bool is_proven(const Report& report, std::size_t process)
{
    return report.processes[process].coverage.is_whole();
}

bool is_told(const Report& report, const ContextRow& row)
{
    return row.stray && is_proven(report, row.process);
}

bool is_told(const Report& report, const FailedCall& row)
{
    constexpr std::uint64_t kOutOfMemory = 2;
    constexpr std::array<std::uint64_t, 2> kQuestions = {800, 801}; // not permitted, not supported
    return (row.result != kOutOfMemory || report.shortages.empty()) &&
           std::find(kQuestions.begin(), kQuestions.end(), row.result) == kQuestions.end();
}

std::vector<std::size_t> processes_with(HeadlineKind kind, const Report& report)
{
    const auto each = [](const auto&) { return true; };
    const auto told = [&report](const auto& row) { return is_told(report, row); };
    const auto proven = [&report](const Growth& row) { return is_proven(report, row.process); };
    switch (kind) {
    case HeadlineKind::crashed:
        return those_that(report, [](const Process& process) { return process.end.crashed(); });
    case HeadlineKind::out_of_memory:
        return owners_of(report.shortages, each);
    case HeadlineKind::misuse:
        return owners_of(report.misuse, each);
    case HeadlineKind::damage:
        return owners_of(report.damage, each);
    case HeadlineKind::leaks:
        return leaking(report);
    case HeadlineKind::growth:
        return owners_of(report.growth, proven);
    case HeadlineKind::objects:
        return owners_of(report.objects, [](const ObjectRow& row) { return row.piles_up(); });
    case HeadlineKind::workspaces:
        return owners_of(report.workspaces, each);
    case HeadlineKind::stray_contexts:
        return owners_of(report.contexts, told);
    case HeadlineKind::failed_calls:
        return owners_of(report.failed_calls, told);
    case HeadlineKind::inconclusive:
    case HeadlineKind::nothing_allocated:
    case HeadlineKind::clean:
        break;
    }
    return {};
}

} // namespace vramscope::report
