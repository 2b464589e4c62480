// report/job/job.cpp — takes processes, and judges what was found of all.
#include "report/job/job.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/job/ends.hpp"
#include "report/job/headroom.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::uint64_t weight(const JobFinding& finding)
{
    const std::uint64_t value = std::max({finding.leaked_bytes, finding.held_bytes,
                                          finding.growth_bytes_per_step, finding.at_peak_bytes});
    return value > finding.usual_bytes ? value - finding.usual_bytes : finding.usual_bytes - value;
}

} // namespace

void JobJoin::add(const ReducedProcess& process, const std::string& file)
{
    const std::size_t added = processes_.size();
    processes_.push_back({process.about,
                          process.rank,
                          process.world_size,
                          {process.job, process.about.host, process.about.pid, process.parent_pid,
                           process.started_ns, process.about.last_seen_ns, process.replaced},
                          process.job,
                          process.program,
                          file,
                          headroom_of(process),
                          process.headlines,
                          {added}});
    JobProcess& about = processes_.back().about;
    for (const ReducedSite& site : process.sites) {
        CallPlace call = process.place_of(site);
        Place& place = places_[{call.key(), site.memory}];
        if (place.shares.empty())
            place.place = std::move(call);
        else
            place.place.merge(call);
        if (place.shares.empty() || place.shares.back().process != added)
            place.shares.push_back({.process = added});
        Share& share = place.shares.back();
        (about.verdict == Verdict::inconclusive ? share.held : share.leaked) += site.leaked_bytes;
        share.growth += site.growth_bytes_per_step;
        share.at_peak += site.at_peak_bytes;
        about.growth_bytes_per_step += site.growth_bytes_per_step;
        add_step(place.step, site.step);
        add_step(about.step, site.step);
    }
}

// Of what is counted in different steps nothing better can be said.
void JobJoin::add_step(std::string& step, const std::string& another)
{
    if (step.empty())
        step = another;
    else if (!another.empty() && step != another)
        step = "step";
}

Job JobJoin::finish()
{
    number_processes();
    job_.ends = ends_of(job_.processes);
    find_headlines();
    look_for_missing();
    for (const auto& [key, place] : places_)
        find_in(place, key.second);
    find_far_peaks();
    find_headroom();
    std::stable_sort(job_.findings.begin(), job_.findings.end(),
                     [](const JobFinding& a, const JobFinding& b) {
                         return a.kind != b.kind ? a.kind < b.kind : weight(a) > weight(b);
                     });
    job_.places = places_.size();
    judge();
    return std::move(job_);
}

std::vector<std::uint32_t> JobJoin::numbers_of(const std::vector<std::size_t>& processes) const
{
    std::vector<std::uint32_t> numbers;
    for (const std::size_t process : processes)
        numbers.push_back(processes_[process].about.number);
    return numbers;
}

// Crashes are told as ends, and leaks and growth with their places.
void JobJoin::find_headlines()
{
    const auto told_here = [](HeadlineKind kind) {
        return kind < HeadlineKind::inconclusive && kind != HeadlineKind::crashed &&
               kind != HeadlineKind::leaks && kind != HeadlineKind::growth;
    };
    std::map<std::pair<HeadlineKind, std::string>, JobHeadline> by_title;
    for (const Member& process : processes_)
        for (const Headline& one : process.headlines) {
            if (!told_here(one.kind))
                continue;
            JobHeadline& known = by_title[{one.kind, one.title}];
            if (known.ranks.empty())
                known = {one.kind, one.title, {}, one.sentence(), false};
            known.differs |= known.sentence != one.sentence();
            if (known.ranks.empty() || known.ranks.back() != process.about.number)
                known.ranks.push_back(process.about.number);
        }
    for (auto& [title, headline] : by_title)
        job_.headlines.push_back(std::move(headline));
}

void JobJoin::find_headroom()
{
    std::vector<JobHeadroom> all;
    for (const Member& process : processes_)
        for (JobHeadroom row : process.headroom) {
            row.rank = process.about.number;
            all.push_back(row);
        }
    job_.runs_out_first = first_to_run_out(all);
    job_.headroom = least_headroom(std::move(all));
}

void JobJoin::judge_outsiders()
{
    std::size_t doubtful = 0;
    std::size_t failed = 0;
    for (const JobOutsider& process : job_.without_rank) {
        doubtful += process.verdict == Verdict::inconclusive;
        failed += process.failed();
    }
    if (doubtful > 0)
        job_.reasons.push_back(fmt::format("of {} without a rank nobody knows whether {}",
                                           counted(doubtful, "process"),
                                           doubtful == 1 ? "it leaks" : "they leak"));
    if (failed > 0)
        job_.reasons.push_back(fmt::format("{} without a rank failed", counted(failed, "process")));
}

void JobJoin::judge()
{
    if (!job_.missing.empty())
        job_.reasons.push_back(
            fmt::format("nothing was found of {}", counted(job_.missing.size(), "rank")));
    if (!job_.unread.empty())
        job_.reasons.push_back(
            fmt::format("{} could not be read", counted(job_.unread.size(), "file")));
    const auto failed = std::count_if(job_.processes.begin(), job_.processes.end(),
                                      [](const JobProcess& process) { return process.failed(); });
    if (failed > 0)
        job_.reasons.push_back(fmt::format("the program failed on {} {}", failed,
                                           job_.noun(static_cast<std::uint64_t>(failed))));
    const auto inconclusive =
        std::count_if(job_.processes.begin(), job_.processes.end(), [](const JobProcess& process) {
            return process.verdict == Verdict::inconclusive;
        });
    if (inconclusive > 0)
        job_.reasons.push_back(fmt::format("of {} {} nobody knows whether {}", inconclusive,
                                           job_.noun(static_cast<std::uint64_t>(inconclusive)),
                                           inconclusive == 1 ? "it leaks" : "they leak"));
    judge_outsiders();
    const auto leaks = [](const auto& process) { return process.verdict == Verdict::leaks; };
    if (processes_.empty() || !job_.reasons.empty())
        job_.verdict = Verdict::inconclusive;
    else
        job_.verdict =
            std::any_of(job_.processes.begin(), job_.processes.end(), leaks) ||
                    std::any_of(job_.without_rank.begin(), job_.without_rank.end(), leaks)
                ? Verdict::leaks
                : Verdict::clean;
}

} // namespace vramscope::report
