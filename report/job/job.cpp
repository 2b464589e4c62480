// report/job/job.cpp — numbers, places, and the rules of what is told.
#include "report/job/job.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/job/ends.hpp"
#include "report/job/far_off.hpp"
#include "report/job/headroom.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeftOut = SIZE_MAX;

std::uint64_t mean(const Values& values, const std::vector<std::size_t>& processes)
{
    std::uint64_t sum = 0;
    for (const auto& [process, value] : values)
        if (std::binary_search(processes.begin(), processes.end(), process))
            sum += value;
    return processes.empty() ? 0 : sum / processes.size();
}

bool differ(const Values& values, const std::vector<std::size_t>& processes)
{
    const std::uint64_t usual = mean(values, processes);
    return std::any_of(values.begin(), values.end(), [&](const auto& value) {
        return value.second != usual &&
               std::binary_search(processes.begin(), processes.end(), value.first);
    });
}

std::vector<std::size_t> processes_of(const Values& values)
{
    std::vector<std::size_t> processes;
    for (const auto& [process, value] : values)
        processes.push_back(process);
    return processes;
}

std::uint64_t weight(const JobFinding& finding)
{
    const std::uint64_t value =
        std::max({finding.leaked_bytes, finding.growth_bytes_per_step, finding.at_peak_bytes});
    return value > finding.usual_bytes ? value - finding.usual_bytes : finding.usual_bytes - value;
}

// Of what is counted in different steps nothing better can be said.
void add_step(std::string& step, const std::string& another)
{
    if (step.empty())
        step = another;
    else if (!another.empty() && step != another)
        step = "step";
}

} // namespace

void JobJoin::add(const ReducedProcess& process, const std::string& file)
{
    const std::size_t added = processes_.size();
    processes_.push_back({process.about, process.rank, process.world_size, process.job,
                          process.program, file, headroom_of(process), added});
    JobProcess& about = processes_.back().about;
    if (const JobHeadroom* const row = fullest(processes_.back().headroom)) {
        about.free_bytes = row->free_bytes();
        about.total_bytes = row->total_bytes;
    }
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
        share.leaked += site.leaked_bytes;
        share.growth += site.growth_bytes_per_step;
        share.at_peak += site.at_peak_bytes;
        about.growth_bytes_per_step += site.growth_bytes_per_step;
        add_step(place.step, site.step);
        add_step(about.step, site.step);
    }
}

Job JobJoin::finish()
{
    number_processes();
    job_.ends = ends_of(job_.processes);
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

// Of two processes with one rank the first is kept: which of them is the job's nobody knows, and
// they are never one.
void JobJoin::number_processes()
{
    std::sort(job_.unread.begin(), job_.unread.end());
    std::sort(processes_.begin(), processes_.end(), [](const Member& a, const Member& b) {
        return std::tie(a.rank, a.job, a.about.log, a.file, a.about.pid) <
               std::tie(b.rank, b.job, b.about.log, b.file, b.about.pid);
    });
    job_.ranked = std::all_of(processes_.begin(), processes_.end(),
                              [](const Member& process) { return process.rank.has_value(); });
    std::vector<std::size_t> number_of(processes_.size(), kLeftOut); // by Member::added
    std::vector<Member> kept;
    std::vector<std::string> again;
    std::map<std::uint32_t, std::size_t> times; // ranks that are there again
    for (Member& process : processes_) {
        if (job_.ranked && !kept.empty() && kept.back().rank == process.rank) {
            const auto [taken, out] = told_apart(kept.back(), process);
            again.push_back(fmt::format("rank {} is there twice: {} is taken, and {} is left out",
                                        *process.rank, taken, out));
            ++times.try_emplace(*process.rank, 1).first->second;
            continue;
        }
        number_of[process.added] = kept.size();
        process.about.number =
            job_.ranked ? *process.rank : static_cast<std::uint32_t>(kept.size());
        kept.push_back(std::move(process));
    }
    processes_ = std::move(kept);
    look_for_jobs(times);
    add_reasons(again);
    for (const Member& process : processes_)
        job_.processes.push_back(process.about);
    number_shares(number_of);
}

// Most ranks again are another job, a run before in the same folder mostly.
void JobJoin::look_for_jobs(const std::map<std::uint32_t, std::size_t>& times)
{
    if (times.size() < 2 || 2 * times.size() <= processes_.size())
        return;
    std::size_t most = 0;
    for (const auto& [rank, count] : times)
        most = std::max(most, count);
    job_.reasons.push_back(fmt::format("these look like {} jobs: {} of {} are there more than once",
                                       most == 2 ? "two" : std::to_string(most), times.size(),
                                       counted(processes_.size(), "rank")));
}

// A line for each of a thousand ranks would hide all else.
void JobJoin::add_reasons(const std::vector<std::string>& of_ranks)
{
    constexpr std::size_t kMost = 3;
    const std::size_t told = std::min(kMost, of_ranks.size());
    job_.reasons.insert(job_.reasons.end(), of_ranks.begin(),
                        of_ranks.begin() + static_cast<std::ptrdiff_t>(told));
    if (const std::size_t more = of_ranks.size() - told; more > 0)
        job_.reasons.push_back(fmt::format("... and {} more {}", grouped(more), job_.noun(more)));
}

// A log has the path that its rank knew, which is the same in each folder that a rank ran in.
std::pair<std::string, std::string> JobJoin::told_apart(const Member& one, const Member& other)
{
    if (one.file != other.file)
        return {one.file, other.file};
    if (one.about.log != other.about.log)
        return {one.about.log, other.about.log};
    const auto process = [](const JobProcess& about) {
        return fmt::format("{} of process {}{}", about.log, about.pid,
                           about.host.empty() ? "" : " on " + about.host);
    };
    return {process(one.about), process(other.about)};
}

// From the order in which processes were added to that in which they are told.
void JobJoin::number_shares(const std::vector<std::size_t>& number_of)
{
    for (auto& [key, place] : places_) {
        for (Share& share : place.shares)
            share.process = number_of[share.process];
        std::erase_if(place.shares, [](const Share& share) { return share.process == kLeftOut; });
        std::sort(place.shares.begin(), place.shares.end(),
                  [](const Share& a, const Share& b) { return a.process < b.process; });
        for (const Share& share : place.shares)
            processes_[share.process].kind += std::hash<std::string>()(key.first) | 1;
    }
    std::erase_if(places_, [](const auto& place) { return place.second.shares.empty(); });
}

void JobJoin::look_for_missing()
{
    std::vector<std::string> of_others;
    std::vector<std::string> beyond;
    for (const Member& process : processes_) {
        job_.world_size = std::max(job_.world_size, process.world_size);
        job_.name = job_.name.empty() ? process.job : job_.name;
        job_.program = job_.program.empty() ? process.program : job_.program;
        if (process.job != job_.name && !process.job.empty())
            of_others.push_back(fmt::format("{} is of another job, {} and not {}",
                                            process.about.log, process.job, job_.name));
        if (process.world_size != 0 && process.rank && *process.rank >= process.world_size)
            beyond.push_back(fmt::format("{} says that it is rank {} of {}", process.about.log,
                                         *process.rank, process.world_size));
    }
    add_reasons(of_others);
    add_reasons(beyond);
    if (!job_.ranked)
        return;
    auto next = processes_.begin();
    for (std::uint32_t rank = 0; rank < job_.world_size; ++rank) {
        while (next != processes_.end() && *next->rank < rank)
            ++next;
        if (next == processes_.end() || *next->rank != rank)
            job_.missing.push_back(rank);
    }
}

bool JobJoin::is_rare(std::size_t processes) const
{
    const std::size_t rare = std::max<std::size_t>(1, processes_.size() / 50);
    return processes <= rare && 2 * processes < processes_.size();
}

std::vector<std::uint32_t> JobJoin::numbers_of(const std::vector<std::size_t>& processes) const
{
    std::vector<std::uint32_t> numbers;
    for (const std::size_t process : processes)
        numbers.push_back(processes_[process].about.number);
    return numbers;
}

// Values that the same processes have are one finding.
void JobJoin::find_in(const Place& place, format::Memory memory)
{
    constexpr std::tuple<std::uint64_t Share::*, std::uint64_t JobFinding::*, bool JobFinding::*>
        kValues[] = {
            {&Share::leaked, &JobFinding::leaked_bytes, &JobFinding::leaked_differs},
            {&Share::growth, &JobFinding::growth_bytes_per_step, &JobFinding::growth_differs},
            {&Share::at_peak, &JobFinding::at_peak_bytes, &JobFinding::at_peak_differs}};
    std::map<std::vector<std::size_t>, JobFinding> by_processes;
    for (const auto& [of_share, of_finding, differs] : kValues) {
        Values values;
        for (const Share& share : place.shares)
            if (share.*of_share > 0)
                values.emplace_back(share.process, share.*of_share);
        if (values.empty())
            continue;
        const std::vector<std::size_t> all = processes_of(values);
        by_processes[all].*of_finding = mean(values, all);
        by_processes[all].*differs = differ(values, all);
        const FarOff far = far_off(values);
        if (far.processes.empty() || !is_rare(far.processes.size()))
            continue;
        JobFinding finding;
        static_cast<CallPlace&>(finding) = place.place;
        finding.kind = JobFindingKind::far_off;
        finding.memory = memory;
        finding.ranks = numbers_of(far.processes);
        finding.step = of_share == &Share::growth ? place.step : "";
        finding.*of_finding = mean(values, far.processes);
        finding.*differs = differ(values, far.processes);
        finding.usual_bytes = far.usual;
        job_.findings.push_back(std::move(finding));
    }
    for (auto& [processes, finding] : by_processes) {
        const bool wrong = finding.leaked_bytes > 0 || finding.growth_bytes_per_step > 0;
        const bool all = processes.size() == processes_.size();
        if (all && !wrong)
            continue;
        static_cast<CallPlace&>(finding) = place.place;
        finding.memory = memory;
        finding.ranks = numbers_of(processes);
        finding.step = finding.growth_bytes_per_step > 0 ? place.step : "";
        const bool matters = wrong || finding.at_peak_bytes >= kLeastThatMatters;
        finding.kind = matters && is_rare(processes.size()) ? JobFindingKind::alone
                       : !wrong                             ? JobFindingKind::part
                       : all                                ? JobFindingKind::all
                                                            : JobFindingKind::some;
        job_.findings.push_back(std::move(finding));
    }
}

// Among those that have the same places: a stage of a pipeline has another peak, and is no fault.
void JobJoin::find_far_peaks()
{
    std::map<std::uint64_t, Values> by_kind;
    for (std::size_t at = 0; at < processes_.size(); ++at)
        by_kind[processes_[at].kind].emplace_back(at, processes_[at].about.peak_device_bytes);
    for (const auto& [kind, values] : by_kind) {
        const FarOff far = far_off(values);
        if (far.processes.empty() || !is_rare(far.processes.size()))
            continue;
        JobFinding finding;
        finding.kind = JobFindingKind::far_off;
        finding.of_whole_peaks = true;
        finding.ranks = numbers_of(far.processes);
        finding.at_peak_bytes = mean(values, far.processes);
        finding.at_peak_differs = differ(values, far.processes);
        finding.usual_bytes = far.usual;
        job_.findings.push_back(std::move(finding));
    }
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

void JobJoin::judge()
{
    if (!job_.missing.empty())
        job_.reasons.push_back(
            fmt::format("nothing was found of {}", counted(job_.missing.size(), "rank")));
    if (!job_.unread.empty())
        job_.reasons.push_back(
            fmt::format("{} could not be read", counted(job_.unread.size(), "file")));
    const auto inconclusive =
        std::count_if(job_.processes.begin(), job_.processes.end(), [](const JobProcess& process) {
            return process.verdict == Verdict::inconclusive;
        });
    if (inconclusive > 0)
        job_.reasons.push_back(fmt::format("of {} {} nobody knows whether {}", inconclusive,
                                           job_.noun(static_cast<std::uint64_t>(inconclusive)),
                                           inconclusive == 1 ? "it leaks" : "they leak"));
    const bool leaks =
        std::any_of(job_.processes.begin(), job_.processes.end(),
                    [](const JobProcess& process) { return process.verdict == Verdict::leaks; });
    if (processes_.empty() || !job_.reasons.empty())
        job_.verdict = Verdict::inconclusive;
    else
        job_.verdict = leaks ? Verdict::leaks : Verdict::clean;
}

} // namespace vramscope::report
