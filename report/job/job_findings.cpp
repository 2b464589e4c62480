// report/job/job_findings.cpp — the rules of what is told of a place, and of whole peaks.
#include <algorithm>
#include <utility>

#include "report/job/job.hpp"
#include "report/job/layout.hpp"

namespace vramscope::report {
namespace {

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

} // namespace

constexpr JobJoin::ValueKind JobJoin::kAtPeak{&Share::at_peak, &JobFinding::at_peak_bytes,
                                              &JobFinding::at_peak_differs};
constexpr JobJoin::ValueKind JobJoin::kValues[] = {
    {&Share::leaked, &JobFinding::leaked_bytes, &JobFinding::leaked_differs},
    {&Share::held, &JobFinding::held_bytes, &JobFinding::held_differs},
    {&Share::growth, &JobFinding::growth_bytes_per_step, &JobFinding::growth_differs},
    kAtPeak};

JobFindingKind JobJoin::kind_of(const JobFinding& finding, std::size_t processes) const
{
    const bool wrong = finding.leaked_bytes > 0 || finding.growth_bytes_per_step > 0;
    if (!wrong && finding.held_bytes > 0)
        return JobFindingKind::held;
    if ((wrong || finding.at_peak_bytes >= kLeastThatMatters) && is_rare(processes))
        return JobFindingKind::alone;
    if (!wrong)
        return JobFindingKind::part;
    return processes == processes_.size() ? JobFindingKind::all : JobFindingKind::some;
}

bool JobJoin::is_rare(std::size_t processes) const
{
    const std::size_t rare = std::max<std::size_t>(1, processes_.size() / 50);
    return processes <= rare && 2 * processes < processes_.size();
}

// A minority as robust statistics allow it, which is less than what moves the median; and not one
// that the layout of the job explains, as the last stage of a pipeline has more.
bool JobJoin::is_odd(const std::vector<std::size_t>& processes, const Values& values) const
{
    return 4 * processes.size() <= values.size() &&
           !is_part_of_layout(numbers_of(processes), numbers_of(processes_of(values)),
                              std::max(job_.world_size, processes_.back().about.number + 1));
}

// Each side by itself: one that is far below hides none that is far above.
std::vector<JobFinding> JobJoin::far_off_in(const Values& values, const ValueKind& value)
{
    std::vector<JobFinding> findings;
    const FarOff far = far_off(values);
    for (const auto* const side : {&far.below, &far.above}) {
        if (side->empty())
            continue;
        if (!is_odd(*side, values)) {
            stages_.insert(side->begin(), side->end());
            continue;
        }
        JobFinding& finding = findings.emplace_back();
        finding.kind = JobFindingKind::far_off;
        finding.ranks = numbers_of(*side);
        finding.*value.bytes = mean(values, *side);
        finding.*value.differs = differ(values, *side);
        finding.usual_bytes = far.usual;
    }
    return findings;
}

// Values that the same processes have are one finding. What was there at the peak tells ranks apart
// where the others do not have the place at all: with them it was perhaps there at another time.
void JobJoin::find_in(const Place& place, format::Memory memory)
{
    std::map<std::vector<std::size_t>, JobFinding> by_processes;
    for (const ValueKind& value : kValues) {
        Values values;
        for (const Share& share : place.shares)
            if (share.*value.of_share > 0)
                values.emplace_back(share.process, share.*value.of_share);
        if (values.empty())
            continue;
        const std::vector<std::size_t> all = processes_of(values);
        by_processes[all].*value.bytes = mean(values, all);
        by_processes[all].*value.differs = differ(values, all);
        if (value.of_share == &Share::held)
            continue; // what was held is as chance ended it
        for (JobFinding& finding : far_off_in(values, value)) {
            static_cast<CallPlace&>(finding) = place.place;
            finding.memory = memory;
            finding.step = finding.growth_bytes_per_step > 0 ? place.step : "";
            job_.findings.push_back(std::move(finding));
        }
    }
    for (auto& [processes, finding] : by_processes) {
        finding.kind = kind_of(finding, processes.size());
        const bool of_peak =
            finding.leaked_bytes + finding.held_bytes == 0 && finding.growth_bytes_per_step == 0;
        if (of_peak &&
            (processes.size() == processes_.size() || processes.size() != place.shares.size()))
            continue;
        static_cast<CallPlace&>(finding) = place.place;
        finding.memory = memory;
        finding.ranks = numbers_of(processes);
        finding.step = finding.growth_bytes_per_step > 0 ? place.step : "";
        job_.findings.push_back(std::move(finding));
    }
}

// Among those that have the same places: a stage of a pipeline has another peak, and is no fault.
// Nor is one whose place it shares with others.
void JobJoin::find_far_peaks()
{
    std::map<std::uint64_t, Values> by_kind;
    for (std::size_t at = 0; at < processes_.size(); ++at)
        if (!stages_.contains(at))
            by_kind[processes_[at].kind].emplace_back(at, processes_[at].about.peak_device_bytes);
    for (const auto& [kind, values] : by_kind)
        for (JobFinding& finding : far_off_in(values, kAtPeak)) {
            finding.of_whole_peaks = true;
            job_.findings.push_back(std::move(finding));
        }
}

} // namespace vramscope::report
