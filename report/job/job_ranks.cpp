// report/job/job_ranks.cpp — which ranks are missing, and what makes a job of them doubtful.
#include <algorithm>

#include <fmt/format.h>

#include "report/job/job.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
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
    // Where nobody says how many there are, the largest proves that the smaller ones exist.
    const std::uint32_t expected =
        job_.world_size > 0 ? job_.world_size : *processes_.back().rank + 1;
    auto next = processes_.begin();
    for (std::uint32_t rank = 0; rank < expected; ++rank) {
        while (next != processes_.end() && *next->rank < rank)
            ++next;
        if (next == processes_.end() || *next->rank != rank)
            job_.missing.push_back(rank);
    }
}

} // namespace vramscope::report
