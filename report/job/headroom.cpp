// report/job/headroom.cpp — see headroom.hpp.
#include "report/job/headroom.hpp"

#include <algorithm>
#include <cstdint>

#include "tracker/format/memory.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostTold = 3;

// Where the rate of one is not known, the sum of the others is too small.
void add_growth(JobHeadroom& row, const std::vector<ReducedSite>& sites)
{
    for (const ReducedSite& site : sites)
        if (site.device == row.device && site.growth_bytes_per_step > 0 &&
            format::kind_of(site.memory).kind == format::MemoryClass::device) {
            row.growth_bytes_per_second += site.growth_bytes_per_second;
            row.grows_unknown |= site.growth_bytes_per_second == 0;
        }
    if (row.grows_unknown)
        row.growth_bytes_per_second = 0;
}

} // namespace

std::vector<JobHeadroom> headroom_of(const ReducedProcess& process)
{
    std::vector<JobHeadroom> rows;
    for (const ReducedDevice& device : process.devices)
        if (device.total_bytes > 0) {
            rows.push_back({.device = device.ordinal,
                            .total_bytes = device.total_bytes,
                            .peak_bytes = device.peak_reserved_bytes});
            add_growth(rows.back(), process.sites);
        }
    return rows;
}

const JobHeadroom* fullest(const std::vector<JobHeadroom>& devices)
{
    const auto least = std::min_element(
        devices.begin(), devices.end(),
        [](const JobHeadroom& a, const JobHeadroom& b) { return a.free_bytes() < b.free_bytes(); });
    return least == devices.end() ? nullptr : &*least;
}

std::optional<JobHeadroom> first_to_run_out(const std::vector<JobHeadroom>& all)
{
    if (std::any_of(all.begin(), all.end(),
                    [](const JobHeadroom& row) { return row.grows_unknown; }))
        return std::nullopt;
    std::optional<JobHeadroom> first;
    for (const JobHeadroom& row : all)
        if (row.full_after_ns() && (!first || *row.full_after_ns() < *first->full_after_ns()))
            first = row;
    return first;
}

std::vector<JobHeadroom> least_headroom(std::vector<JobHeadroom> all)
{
    const auto free_part = [](const JobHeadroom& row) {
        return static_cast<double>(row.free_bytes()) / static_cast<double>(row.total_bytes);
    };
    std::stable_sort(all.begin(), all.end(), [&](const JobHeadroom& a, const JobHeadroom& b) {
        return free_part(a) < free_part(b);
    });
    if (all.size() > kMostTold)
        all.resize(kMostTold);
    return all;
}

} // namespace vramscope::report
