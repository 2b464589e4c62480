// report/job/job_processes.cpp — which processes are a rank, and which are left out.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/job/headroom.hpp"
#include "report/job/job.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeftOut = SIZE_MAX;

// The larger, the more is to be told of it.
int badness(const JobProcess& about)
{
    return about.crashed ? 3 : about.failed() ? 2 : about.verdict == Verdict::inconclusive ? 1 : 0;
}

Verdict worse(Verdict one, Verdict other)
{
    if (one == Verdict::inconclusive || other == Verdict::inconclusive)
        return Verdict::inconclusive;
    return one == Verdict::leaks ? one : other;
}

// Their peaks may have been at different times: a sum is no less than what the rank had. But what
// was replaced by exec had ended before.
std::uint64_t peak_of_both(std::uint64_t one, std::uint64_t other, bool replaced)
{
    return replaced ? std::max(one, other) : one + other;
}

void merge_devices(std::vector<JobHeadroom>& all, const std::vector<JobHeadroom>& more,
                   bool replaced)
{
    for (const JobHeadroom& row : more) {
        const auto known = std::find_if(all.begin(), all.end(), [&](const JobHeadroom& one) {
            return one.device == row.device;
        });
        if (known == all.end()) {
            all.push_back(row);
            continue;
        }
        known->peak_bytes = peak_of_both(known->peak_bytes, row.peak_bytes, replaced);
        known->growth_bytes_per_second += row.growth_bytes_per_second;
        known->grows_unknown |= row.grows_unknown;
        if (known->grows_unknown)
            known->growth_bytes_per_second = 0;
    }
}

} // namespace

// Of a log and its table the one that was read later tells more.
void JobJoin::leave_out_copies()
{
    const auto key = [](const Member& one) {
        return std::tie(one.rank, one.process.pid, one.process.host, one.process.started_ns);
    };
    std::sort(processes_.begin(), processes_.end(), [&](const Member& a, const Member& b) {
        return std::tuple(key(a), b.about.last_seen_ns, std::tie(a.about.log, a.file)) <
               std::tuple(key(b), a.about.last_seen_ns, std::tie(b.about.log, b.file));
    });
    processes_.erase(std::unique(processes_.begin(), processes_.end(),
                                 [&](const Member& a, const Member& b) {
                                     return a.process.started_ns != 0 && key(a) == key(b);
                                 }),
                     processes_.end());
}

void JobJoin::leave_out_unranked()
{
    const auto has_rank = [](const Member& process) { return process.rank.has_value(); };
    job_.ranked = std::any_of(processes_.begin(), processes_.end(), has_rank);
    if (!job_.ranked)
        return;
    const auto first = std::stable_partition(processes_.begin(), processes_.end(), has_rank);
    for (auto process = first; process != processes_.end(); ++process) {
        const JobProcess& about = process->about;
        JobOutsider& outsider = job_.without_rank.emplace_back(JobOutsider{
            about.pid, about.host, about.log, about.verdict, about.end, about.exit_status, {}, {}});
        for (const Headline& headline : process->headlines)
            outsider.findings.push_back(headline.sentence());
        if (about.found)
            outsider.title = process->headlines.front().title;
    }
    processes_.erase(first, processes_.end());
}

// Of processes with one rank that are not one rank the first is kept: which of them is the job's
// nobody knows.
void JobJoin::number_processes()
{
    const std::size_t added = processes_.size();
    std::sort(job_.unread.begin(), job_.unread.end());
    leave_out_copies();
    std::sort(processes_.begin(), processes_.end(), [](const Member& a, const Member& b) {
        return std::tie(a.rank, a.job, a.about.log, a.file, a.about.pid) <
               std::tie(b.rank, b.job, b.about.log, b.file, b.about.pid);
    });
    leave_out_unranked();
    std::vector<Member> kept;
    std::vector<std::string> again;
    std::map<std::uint32_t, std::size_t> times; // ranks that are there again
    for (std::size_t at = 0; at < processes_.size();) {
        std::size_t end = at + 1;
        while (job_.ranked && end < processes_.size() &&
               processes_[end].rank == processes_[at].rank)
            ++end;
        const std::size_t others = take_rank(at, end);
        for (std::size_t other = others; other < end; ++other) {
            const auto [taken, out] = told_apart(processes_[at], processes_[other]);
            again.push_back(fmt::format("rank {} is there twice: {} is taken, and {} is left out",
                                        *processes_[at].rank, taken, out));
            ++times.try_emplace(*processes_[at].rank, 1).first->second;
        }
        kept.push_back(std::move(processes_[at]));
        at = end;
    }
    processes_ = std::move(kept);
    look_for_jobs(times);
    add_reasons(again);
    for (Member& process : processes_)
        add_row(process);
    number_shares(added);
}

void JobJoin::add_row(Member& rank)
{
    JobProcess& about = rank.about;
    about.number = job_.ranked ? *rank.rank : static_cast<std::uint32_t>(job_.processes.size());
    if (const JobHeadroom* const row = fullest(rank.headroom)) {
        about.free_bytes = row->free_bytes();
        about.total_bytes = row->total_bytes;
    }
    job_.processes.push_back(about);
}

// Of these processes of one rank, those that are the rank become the first of them. Returns where
// the others begin.
std::size_t JobJoin::take_rank(std::size_t first, std::size_t end)
{
    const auto place = [this](std::size_t at) {
        return processes_.begin() + static_cast<std::ptrdiff_t>(at);
    };
    std::size_t others = first + 1;
    const auto is_of_rank = [&](const Member& one) {
        return std::any_of(place(first), place(others), [&](const Member& taken) {
            return are_one_rank(taken.process, one.process);
        });
    };
    while (others < end) {
        const auto joins = std::find_if(place(others), place(end), is_of_rank);
        if (joins == place(end))
            break;
        std::rotate(place(others), joins, joins + 1);
        ++others;
    }
    std::sort(place(first), place(others), [](const Member& a, const Member& b) {
        return std::tie(a.process.started_ns, a.about.log, a.about.pid) <
               std::tie(b.process.started_ns, b.about.log, b.about.pid);
    });
    for (std::size_t at = first + 1; at < others; ++at)
        merge(processes_[first], processes_[at]);
    return others;
}

void JobJoin::merge(Member& one, const Member& other)
{
    JobProcess& about = one.about;
    const JobProcess& more = other.about;
    about.other_logs.push_back(more.log);
    if (badness(more) > badness(about)) {
        about.end = more.end;
        about.doubt = more.doubt;
        about.exit_status = more.exit_status;
        about.crashed = more.crashed;
        about.last_seen_ns = more.last_seen_ns;
    }
    about.verdict = worse(about.verdict, more.verdict);
    const bool replaced = about.pid == more.pid; // see are_one_rank()
    if (replaced)
        one.program = other.program;
    about.peak_device_bytes =
        peak_of_both(about.peak_device_bytes, more.peak_device_bytes, replaced);
    about.leaked_bytes += more.leaked_bytes;
    about.out_of_memory += more.out_of_memory;
    about.lost_events += more.lost_events;
    about.growth_bytes_per_step += more.growth_bytes_per_step;
    about.found |= more.found;
    add_step(about.step, more.step);
    merge_devices(one.headroom, other.headroom, replaced);
    one.world_size = std::max(one.world_size, other.world_size);
    one.headlines.insert(one.headlines.end(), other.headlines.begin(), other.headlines.end());
    one.added.insert(one.added.end(), other.added.begin(), other.added.end());
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

// From the order in which processes were added to that in which ranks are told.
void JobJoin::number_shares(std::size_t added)
{
    std::vector<std::size_t> number_of(added, kLeftOut);
    for (std::size_t number = 0; number < processes_.size(); ++number)
        for (const std::size_t process : processes_[number].added)
            number_of[process] = number;
    for (auto& [key, place] : places_) {
        std::map<std::size_t, Share> by_number;
        for (const Share& share : place.shares) {
            const std::size_t number = number_of[share.process];
            if (number == kLeftOut)
                continue;
            Share& sum = by_number.try_emplace(number, Share{.process = number}).first->second;
            sum.leaked += share.leaked;
            sum.held += share.held;
            sum.growth += share.growth;
            sum.at_peak += share.at_peak;
        }
        place.shares.clear();
        for (const auto& [number, share] : by_number) {
            place.shares.push_back(share);
            processes_[number].kind += std::hash<std::string>()(key.first) | 1;
        }
    }
    std::erase_if(places_, [](const auto& place) { return place.second.shares.empty(); });
}

} // namespace vramscope::report
