// report/model/report.cpp — several processes together, and the numbers that budgets ask for.
#include "report/model/report.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "report/model/append.hpp"

namespace vramscope::report {

namespace {

// Both are sorted.
void unite(std::vector<std::string>& names, const std::vector<std::string>& more)
{
    std::vector<std::string> both;
    std::set_union(names.begin(), names.end(), more.begin(), more.end(), std::back_inserter(both));
    names = std::move(both);
}

double ratio(std::uint64_t part, std::uint64_t whole) noexcept
{
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

std::array<std::vector<std::uint64_t>, 2> Leak::alive_columns() const
{
    std::array<std::vector<std::uint64_t>, 2> columns;
    for (const AliveTime& time : alive) {
        columns[0].push_back(time.ns);
        columns[1].push_back(time.bytes);
    }
    return columns;
}

void LostRows::take(LostRows&& more)
{
    append(leaks, std::move(more.leaks));
    append(imports, std::move(more.imports));
    append(owners, std::move(more.owners));
    append(graph_memory, std::move(more.graph_memory));
    append(reservations, std::move(more.reservations));
    append(held, std::move(more.held));
    append(sums, std::move(more.sums));
}

void LostRows::sort()
{
    for (std::vector<Leak>* const rows :
         {&leaks, &imports, &owners, &graph_memory, &reservations, &held})
        sort_by_size(*rows);
    sort_by_size(sums);
}

std::string step_word(std::string name)
{
    std::erase(name, '#');
    constexpr std::string_view kBetween = " _-.:/()[]";
    const std::size_t begin = name.find_first_not_of(kBetween);
    const std::size_t end = name.find_last_not_of(kBetween);
    return begin == std::string::npos ? "step" : name.substr(begin, end - begin + 1);
}

void sort_by_speed(std::vector<Growth>& growth)
{
    std::stable_sort(growth.begin(), growth.end(), [](const Growth& a, const Growth& b) {
        return std::tie(b.rate.bytes_per_second, b.bytes, b.blocks) <
               std::tie(a.rate.bytes_per_second, a.bytes, a.blocks);
    });
}

void Totals::add_leaked(const MemoryTotal& more)
{
    leaked_bytes += more.bytes;
    leaked_blocks += more.blocks;
    const auto at =
        std::find_if(leaked_by_memory.begin(), leaked_by_memory.end(),
                     [&](const MemoryTotal& total) { return total.memory == more.memory; });
    if (at == leaked_by_memory.end()) {
        leaked_by_memory.push_back(more);
        return;
    }
    at->bytes += more.bytes;
    at->blocks += more.blocks;
}

Totals& Totals::operator+=(const Totals& other)
{
    MemoryCounts::operator+=(other);
    for (const MemoryTotal& total : other.leaked_by_memory)
        add_leaked(total);
    suppressed_bytes += other.suppressed_bytes;
    suppressed_blocks += other.suppressed_blocks;
    unclosed_imports += other.unclosed_imports;
    unclosed_import_bytes += other.unclosed_import_bytes;
    graph_bytes += other.graph_bytes;
    reserved_address_bytes += other.reserved_address_bytes;
    address_reservations += other.address_reservations;
    return *this;
}

std::vector<std::pair<format::Memory, MemoryTotal>> Totals::leaked_of_memory() const
{
    std::vector<std::pair<format::Memory, MemoryTotal>> totals;
    for (const MemoryTotal& total : leaked_by_memory)
        totals.emplace_back(total.memory, total);
    return totals;
}

Coverage& Coverage::operator+=(const Coverage& other)
{
    EventCounts::operator+=(other);
    for (std::size_t reason = 0; reason < lost.size(); ++reason)
        lost[reason] += other.lost[reason];
    if (other.log_full_ns)
        log_full_ns = std::min(log_full_ns.value_or(UINT64_MAX), *other.log_full_ns);
    damaged_chunks += other.damaged_chunks;
    truncated = truncated || other.truncated;
    unite(entry_points_seen, other.entry_points_seen);
    unite(unknown_entry_points, other.unknown_entry_points);
    return *this;
}

std::uint64_t Coverage::lost_events() const noexcept
{
    std::uint64_t sum = 0;
    for (const std::uint64_t count : lost)
        sum += count;
    return sum;
}

std::vector<std::pair<std::string, std::uint64_t>> Coverage::lost_by_reason() const
{
    std::vector<std::pair<std::string, std::uint64_t>> reasons;
    for (std::size_t reason = 0; reason < lost.size(); ++reason) {
        const std::string word = name(static_cast<format::Lost>(reason));
        const auto same = std::find_if(reasons.begin(), reasons.end(),
                                       [&](const auto& entry) { return entry.first == word; });
        if (same == reasons.end())
            reasons.emplace_back(word, lost[reason]);
        else
            same->second += lost[reason]; // reasons without a word are counted together
    }
    return reasons;
}

bool Coverage::is_whole() const noexcept
{
    return !truncated && damaged_chunks == 0 && undefined_events == 0 && missed_frees == 0 &&
           lost_events() == 0;
}

std::string Surroundings::driver_path() const
{
    return process->info_value("driver.path");
}

std::string Surroundings::driver_version() const
{
    return process->info_value("driver.version");
}

std::optional<bool> Surroundings::simulated() const
{
    const std::string told = process->info_value("driver.simulated");
    return told.empty() ? std::nullopt : std::optional(told == "1");
}

std::string Surroundings::unwinder() const
{
    return process->info_value("unwinder");
}

std::vector<std::pair<std::string, std::string>> Process::single_info() const
{
    std::vector<std::pair<std::string, std::string>> facts;
    for (const auto& fact : info)
        if (fact.first != "unknown_entry_point" && fact.first != "bypassed")
            facts.push_back(fact);
    return facts;
}

bool records(std::string_view recorded, std::string_view what)
{
    const std::string words = ' ' + std::string(recorded) + ' ';
    return words.find(' ' + std::string(what) + ' ') != std::string::npos;
}

bool Process::records(std::string_view what) const
{
    return report::records(info_value("recorded"), what);
}

std::string Process::info_value(std::string_view key) const
{
    for (const auto& [name, value] : info) {
        if (name == key)
            return value;
    }
    return {};
}

double MemoryReport::utilisation_of_peaks() const noexcept
{
    return ratio(peak_allocated(), peak_reserved());
}

double MemoryReport::utilisation_at_reserved_peak() const noexcept
{
    return ratio(at_reserved_peak.parts.allocated, peak_reserved());
}

Summary Report::summary() const
{
    Summary numbers;
    numbers.verdict = verdict;
    numbers.leaked_bytes = totals.leaked_bytes;
    numbers.leaked_blocks = totals.leaked_blocks;
    numbers.unclosed_imports = totals.unclosed_imports;
    numbers.growing_stacks = growth.size();
    for (const Process& process : processes) {
        numbers.peak_bytes = std::max(numbers.peak_bytes, report::peak_bytes(process));
        numbers.peak_reserved_bytes =
            std::max(numbers.peak_reserved_bytes, peak_reserved_bytes(process));
        numbers.driver_calls += report::driver_calls(process);
        numbers.out_of_memory += process.shortage_count;
    }
    numbers.peak_host_bytes = totals.peak_host_bytes;
    numbers.allocations = totals.allocations;
    for (const Misuse& row : misuse)
        numbers.wrong_frees += row.kind == MisuseKind::unknown ? 0 : row.calls;
    for (const Damage& row : damage)
        numbers.damaged_blocks += row.times;
    for (const FailedCall& row : failed_calls)
        numbers.failed_calls += row.calls;
    numbers.lost_events = coverage.lost_events();
    return numbers;
}

std::uint64_t peak_bytes(const Process& process)
{
    const MemoryReport* const device = device_of_peak(process);
    return device ? device->peak_allocated() : 0;
}

std::uint64_t peak_reserved_bytes(const Process& process)
{
    std::uint64_t most = 0;
    for (const MemoryReport& device : process.memory)
        most = std::max(most, device.peak_reserved());
    return most;
}

double fragmentation(const Process& process)
{
    double most = 0;
    for (const MemoryReport& device : process.memory) {
        const Waterfall& parts = device.at_reserved_peak.parts;
        if (parts.reserved > 0)
            most = std::max(most, static_cast<double>(parts.stuck + parts.internal) /
                                      static_cast<double>(parts.reserved));
    }
    return most;
}

const MemoryReport* device_of_peak(const Process& process)
{
    const MemoryReport* most = nullptr;
    for (const MemoryReport& device : process.memory)
        if (!most || device.peak_allocated() > most->peak_allocated())
            most = &device;
    return most;
}

const MemoryReport* device_of_peak(const Report& report)
{
    const MemoryReport* most = nullptr;
    for (const Process& process : report.processes) {
        const MemoryReport* const device = device_of_peak(process);
        if (device && (!most || device->peak_allocated() > most->peak_allocated()))
            most = device;
    }
    return most;
}

std::uint64_t test_peak(const TestRow& test)
{
    std::uint64_t most = 0;
    for (const TestPeak& peak : test.peaks)
        most = std::max(most, peak.bytes);
    return most;
}

std::uint64_t test_growth(const TestRow& test)
{
    std::uint64_t most = 0;
    for (const TestPeak& peak : test.peaks)
        most = std::max(most, peak.bytes - std::min(peak.bytes, peak.at_begin));
    return most;
}

std::uint64_t freed_later(const TestRow& test)
{
    const std::uint64_t left = test.leaked_bytes + test.suppressed_bytes;
    return test.held_bytes - std::min(test.held_bytes, left);
}

bool saw_memory_call(const Report& report)
{
    return report.coverage.allocations + report.coverage.frees > 0 || !report.shortages.empty() ||
           !report.failed_calls.empty() || !report.misuse.empty();
}

bool saw_nothing(const Report& report)
{
    return !saw_memory_call(report) &&
           std::all_of(report.processes.begin(), report.processes.end(),
                       [](const Process& process) { return process.doubts.empty(); });
}

std::uint64_t driver_calls(const Process& process)
{
    std::uint64_t calls = process.requests;
    for (const PoolDevice& device : process.pool.devices) {
        const Stat& served = device.stats.allocation.all;
        calls -= std::min(calls, served.allocated + served.freed);
        calls += device.stats.num_device_alloc + device.stats.num_device_free;
    }
    return calls;
}

} // namespace vramscope::report
