// report/model/measures.cpp — the same number, whether the process had a pool or not.
#include <algorithm>

#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) noexcept
{
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

double DeviceReport::utilisation_of_peaks() const noexcept
{
    return ratio(peak_allocated(), peak_reserved());
}

double DeviceReport::utilisation_at_reserved_peak() const noexcept
{
    return ratio(at_reserved_peak.parts.allocated, peak_reserved());
}

std::uint64_t peak_bytes(const Process& process)
{
    const DeviceReport* const device = device_of_peak(process);
    return device ? device->peak_allocated() : 0;
}

std::uint64_t peak_reserved_bytes(const Process& process)
{
    std::uint64_t most = 0;
    for (const DeviceReport& device : process.memory)
        most = std::max(most, device.peak_reserved());
    return most;
}

double fragmentation(const Process& process)
{
    double most = 0;
    for (const DeviceReport& device : process.memory) {
        const Waterfall& parts = device.at_reserved_peak.parts;
        if (parts.reserved > 0)
            most = std::max(most, static_cast<double>(parts.stuck + parts.internal) /
                                      static_cast<double>(parts.reserved));
    }
    return most;
}

const DeviceReport* device_of_peak(const Process& process)
{
    const DeviceReport* most = nullptr;
    for (const DeviceReport& device : process.memory)
        if (!most || device.peak_allocated() > most->peak_allocated())
            most = &device;
    return most;
}

const DeviceReport* device_of_peak(const Report& report)
{
    const DeviceReport* most = nullptr;
    for (const Process& process : report.processes) {
        const DeviceReport* const device = device_of_peak(process);
        if (device && (!most || device->peak_allocated() > most->peak_allocated()))
            most = device;
    }
    return most;
}

bool saw_memory_call(const Report& report)
{
    return report.coverage.allocations + report.coverage.frees > 0 ||
           !report.out_of_memory.empty() || !report.failed_calls.empty() || !report.misuse.empty();
}

bool saw_nothing(const Report& report)
{
    return !saw_memory_call(report) &&
           std::all_of(report.processes.begin(), report.processes.end(),
                       [](const Process& process) { return process.doubts.empty(); });
}

std::uint64_t driver_calls(const Process& process)
{
    std::uint64_t calls = process.totals.allocations + process.totals.frees;
    for (const PoolDevice& device : process.pool.devices) {
        const Stat& served = device.stats.allocation.all;
        calls -= std::min(calls, served.allocated + served.freed);
        calls += device.stats.num_device_alloc + device.stats.num_device_free;
    }
    return calls;
}

} // namespace vramscope::report
