// tests/report/job/job_scene.hpp — ranks as a reduced table has them, and what a join finds.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "report/job/job.hpp"

namespace vramscope::report {

using Numbers = std::vector<std::uint32_t>;

constexpr std::uint64_t kMiB = 1u << 20;

class Rank {
public:
    explicit Rank(std::uint32_t rank, std::uint32_t size = 0)
    {
        process_.rank = rank;
        process_.world_size = size;
        process_.program = "train";
        process_.about.log = "rank" + std::to_string(rank) + ".vsl";
        process_.about.verdict = Verdict::clean;
        process_.about.end = "exited with status 0";
    }

    Rank& site(const std::string& function, std::uint64_t at_peak, std::uint64_t leaked = 0,
               std::uint64_t growth = 0, const std::string& step = "step")
    {
        process_.frames.push_back(
            {.frame = {.function = function, .file = "a.cu", .line = 7, .module = {}}});
        process_.sites.push_back({.api = "cudaMalloc",
                                  .frame = process_.frames.size() - 1,
                                  .memory = format::Memory::device,
                                  .device = 0,
                                  .at_peak_bytes = at_peak,
                                  .leaked_bytes = leaked,
                                  .growth_bytes_per_step = growth,
                                  .step = growth > 0 ? step : ""});
        process_.about.peak_device_bytes += at_peak;
        if (leaked > 0)
            process_.about.verdict = Verdict::leaks;
        return *this;
    }
    Rank& device(std::uint64_t total, std::uint64_t peak)
    {
        process_.devices.push_back(
            {.ordinal = 0, .total_bytes = total, .peak_reserved_bytes = peak});
        return *this;
    }
    Rank& says(HeadlineKind kind, const std::string& title, const std::string& rest)
    {
        process_.headlines.push_back({kind, title, rest, {}});
        process_.about.found |= process_.headlines.back().is_finding();
        return *this;
    }
    Rank& exited(std::uint32_t status, std::uint64_t seen_ns = 0)
    {
        process_.about.end = "exited with status " + std::to_string(status);
        process_.about.exit_status = status;
        process_.about.last_seen_ns = seen_ns;
        return *this;
    }
    ReducedProcess& process() { return process_; }

private:
    ReducedProcess process_;
};

inline Job joined(std::vector<Rank> ranks)
{
    JobJoin join;
    for (Rank& rank : ranks)
        join.add(rank.process());
    return join.finish();
}

// "alone leak_here 17", sorted; parts of the job are left out.
inline std::vector<std::string> faults(const Job& job)
{
    std::vector<std::string> faults;
    for (const JobFinding& finding : job.findings) {
        if (finding.kind == JobFindingKind::part)
            continue;
        std::string text = std::string(name(finding.kind)) + " " +
                           (finding.of_whole_peaks ? "peak" : finding.stack.front().function);
        for (const std::uint32_t rank : finding.ranks)
            text += " " + std::to_string(rank);
        faults.push_back(text);
    }
    std::sort(faults.begin(), faults.end());
    return faults;
}

} // namespace vramscope::report
