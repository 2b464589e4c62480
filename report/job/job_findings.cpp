// report/job/job_findings.cpp — the rules of what is told of a place, and of whole peaks.
#include <algorithm>
#include <tuple>
#include <utility>

#include "report/job/far_off.hpp"
#include "report/job/job.hpp"

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

bool JobJoin::is_rare(std::size_t processes) const
{
    const std::size_t rare = std::max<std::size_t>(1, processes_.size() / 50);
    return processes <= rare && 2 * processes < processes_.size();
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

} // namespace vramscope::report
