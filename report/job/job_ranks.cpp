// report/job/job_ranks.cpp — which processes are the job's, and which of its ranks are missing.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/job/job.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeftOut = SIZE_MAX;

} // namespace

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

} // namespace vramscope::report
