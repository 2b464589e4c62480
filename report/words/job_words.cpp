// report/words/job_words.cpp — see job_words.hpp.
#include "report/words/job_words.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/model/job.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// In the order in which they are told.
enum class Standing { inconclusive, failed, leaks, found, clean };
constexpr format::Word<Standing> kStandings[] = {{Standing::inconclusive, "inconclusive"},
                                                 {Standing::failed, "failed"},
                                                 {Standing::leaks, "with leaks"},
                                                 {Standing::found, "with findings"},
                                                 {Standing::clean, "clean"}};

Standing standing_of(const JobProcess& process)
{
    if (process.verdict == Verdict::inconclusive)
        return Standing::inconclusive;
    if (process.failed())
        return Standing::failed;
    if (process.verdict == Verdict::leaks)
        return Standing::leaks;
    return process.found ? Standing::found : Standing::clean;
}

} // namespace

std::string title_of(const Job& job)
{
    if (job.verdict != Verdict::clean)
        return job.verdict == Verdict::leaks ? "Leaks" : "Inconclusive";
    if (!job.headlines.empty())
        return job.headlines.front().title;
    const bool grows =
        std::any_of(job.findings.begin(), job.findings.end(),
                    [](const JobFinding& finding) { return finding.growth_bytes_per_step > 0; });
    if (grows)
        return "Grows";
    const auto outsider =
        std::find_if(job.without_rank.begin(), job.without_rank.end(),
                     [](const JobOutsider& process) { return !process.title.empty(); });
    return outsider == job.without_rank.end() ? "Clean" : outsider->title;
}

std::string standings_of(const Job& job)
{
    std::map<Standing, std::uint64_t> counts;
    for (const JobProcess& process : job.processes)
        ++counts[standing_of(process)];
    std::string text;
    for (const auto& [standing, word] : kStandings)
        if (counts[standing] > 0)
            text +=
                fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(counts[standing]), word);
    return text;
}

std::string headline_words(const Job& job, const JobHeadline& headline)
{
    if (!headline.differs)
        return terminal_safe(headline.sentence);
    return terminal_safe(fmt::format("{}; {} {}{}", headline.title, job.noun(1),
                                     headline.ranks.front(),
                                     headline.sentence.substr(headline.title.size())));
}

std::string outsider_words(const JobOutsider& process)
{
    std::string words = fmt::format("process {} ({}) has no rank: ", process.pid, process.log);
    for (const std::string& finding : process.findings)
        words += finding + "; ";
    return terminal_safe(words + "it " + process.end);
}

} // namespace vramscope::report
