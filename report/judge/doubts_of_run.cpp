// report/judge/doubts_of_run.cpp — why a run does not show that its program keeps to anything.
#include <algorithm>

#include <fmt/format.h>

#include "report/judge/judge.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// Perhaps before it came to where it would have leaked.
void add_failures(std::vector<std::string>& doubts, const Report& report)
{
    for (const Process& process : report.processes)
        if (has_failed(process))
            doubts.push_back(fmt::format(
                "{}the program failed: it {}",
                report.processes.size() > 1 ? fmt::format("process {}: ", process.pid) : "",
                describe(process.end)));
}

// A rank without a log may have died before its first CUDA call. A user that checks one log out of
// many means that log alone.
void add_missing_ranks(std::vector<std::string>& doubts, const Report& report)
{
    if (report.processes.size() < 2)
        return;
    const std::vector<std::uint32_t>& missing = report.ranks.missing;
    if (missing.empty())
        return;
    constexpr std::size_t kShown = 8;
    std::string names;
    for (std::size_t at = 0; at < std::min(kShown, missing.size()); ++at)
        names += fmt::format("{}{}", at == 0 ? "" : ", ", missing[at]);
    if (missing.size() > kShown)
        names += fmt::format(" and {} more", missing.size() - kShown);
    doubts.push_back(fmt::format("there is no log of rank {}", names));
}

} // namespace

// By the process's own word; reasons_for_doubt() tells what a crash is.
bool has_failed(const Process& process)
{
    const ProcessEnd& end = process.end;
    return end.conclusive() && end.kind != ProcessEnd::Kind::replaced && end.status != 0;
}

std::vector<std::string> doubts_of_run(const Report& report)
{
    std::vector<std::string> doubts = report.reasons;
    add_failures(doubts, report);
    add_missing_ranks(doubts, report);
    return doubts;
}

} // namespace vramscope::report
