// report/report.cpp — one process per log, then the sums and the verdict.
#include "report/report.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "report/analyze/newer_functions.hpp"
#include "report/analyze/verdict.hpp"
#include "report/read/free_history.hpp"
#include "report/read/heap_replay.hpp"
#include "report/read/log_reader.hpp"
#include "report/read/marks.hpp"
#include "report/read/memory_class.hpp"

namespace vramscope::report {

using format::Memory;

namespace {

constexpr std::uint64_t kRecordsPerProgress = 1 << 18;

std::string utc(std::uint64_t real_ns)
{
    const auto seconds = static_cast<std::time_t>(real_ns / 1'000'000'000);
    std::tm parts{};
    if (real_ns == 0 || !::gmtime_r(&seconds, &parts))
        return {};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

void add_to(std::vector<MemoryTotal>& totals, const MemoryTotal& more)
{
    const auto at = std::find_if(totals.begin(), totals.end(), [&](const MemoryTotal& total) {
        return total.memory == more.memory;
    });
    if (at == totals.end()) {
        totals.push_back(more);
        return;
    }
    at->bytes += more.bytes;
    at->blocks += more.blocks;
}

Totals totals_of(const ReplayCounts& counts, const std::vector<LostBlocks>& lost)
{
    Totals totals;
    totals.allocations = counts.memory_allocations;
    totals.frees = counts.memory_frees;
    totals.allocated_bytes = counts.allocated_bytes;
    totals.peak_device_bytes = counts.peak_device_bytes;
    totals.peak_host_bytes = counts.peak_host_bytes;
    for (const LostBlocks& blocks : lost) {
        if (blocks.memory == Memory::reservation) {
            totals.reserved_address_bytes += blocks.bytes;
            totals.address_reservations += blocks.blocks;
            continue;
        }
        if (class_of(blocks.memory) == MemoryClass::foreign) {
            totals.unclosed_imports += blocks.blocks;
            totals.unclosed_import_bytes += blocks.bytes;
        }
        if (blocks.memory == Memory::graph)
            totals.graph_bytes += blocks.bytes;
        if (!is_own_memory(blocks.memory))
            continue;
        totals.leaked_bytes += blocks.bytes;
        totals.leaked_blocks += blocks.blocks;
        add_to(totals.leaked_by_memory, {blocks.memory, blocks.bytes, blocks.blocks});
    }
    std::sort(totals.leaked_by_memory.begin(), totals.leaked_by_memory.end(),
              [](const MemoryTotal& a, const MemoryTotal& b) { return a.memory < b.memory; });
    return totals;
}

Coverage coverage_of(const ReplayCounts& counts, const LogTables& tables, const LogReader& reader,
                     const format::FileHeader& header, bool running)
{
    Coverage coverage;
    coverage.events = counts.events;
    coverage.allocations = counts.allocations;
    coverage.frees = counts.frees;
    coverage.unmatched_frees = counts.unmatched_frees;
    coverage.missed_frees = counts.missed_frees;
    coverage.undefined_events = counts.undefined_events;
    coverage.graph_allocations = counts.graph_allocations;
    coverage.failed_calls = counts.failed_calls;
    coverage.names_given = counts.names_given;
    coverage.pool_trims = counts.pool_trims;
    std::copy(std::begin(header.lost), std::end(header.lost), coverage.lost.begin());
    coverage.damaged_chunks = reader.damaged_chunks() + tables.undefined();
    coverage.truncated = reader.cut() && !running; // a log that grows is never there in full
    for (const Api& api : tables.apis()) {
        if (api.events > 0)
            coverage.entry_points_seen.push_back(api.name);
    }
    std::sort(coverage.entry_points_seen.begin(), coverage.entry_points_seen.end());
    coverage.unknown_entry_points = newer_functions(tables.info());
    return coverage;
}

void add_notices(std::vector<std::string>& notices, const Process& process,
                 const HeapReplay& replay)
{
    const Totals& totals = process.totals;
    if (process.coverage.unmatched_frees > 0)
        notices.push_back(
            fmt::format("{} freed a pointer that was not seen allocated",
                        process.coverage.unmatched_frees == 1
                            ? "1 call"
                            : fmt::format("{} calls", process.coverage.unmatched_frees)));
    if (totals.address_reservations > 0)
        notices.push_back(fmt::format(
            "{} address reservation{} never given back: {} bytes of addresses, no memory",
            totals.address_reservations, totals.address_reservations == 1 ? " was" : "s were",
            totals.reserved_address_bytes));
    for (const BlockInFlight& block : replay.in_flight())
        notices.push_back(fmt::format(
            "a free of {:#x} ({} bytes) was in flight when the process ended: nobody knows whether "
            "it is free, and it is not in the list",
            block.free.address, block.block.bytes));
    if (!process.coverage.unknown_entry_points.empty())
        notices.push_back(
            newer_functions_notice(process.coverage.unknown_entry_points,
                                   !process.info_value("unknown_entry_points.more").empty()));
}

void add_marks(Process& process, const Marks& marks, const TickClock& clock,
               const LogTables& tables)
{
    process.mark_count = marks.count();
    for (const LoggedMark& mark : marks.kept())
        process.marks.push_back({clock.ns(mark.ticks), mark.name, tables.thread(mark.thread).tid});
}

// Reads one log into the report.
class LogReport {
public:
    LogReport(Report& report, const Options& options, Symbolizer& symbolizer)
        : report_(report), options_(options), symbolizer_(symbolizer)
    {
    }

    void read(const std::filesystem::path& path, std::size_t logs)
    {
        const LogFile file = LogFile::open(path);
        const format::FileHeader& header = file.header();
        const bool live = options_.until_ticks != UINT64_MAX || header.snapshot_ticks != 0;
        const bool running = live || process_is_running(header.pid, header.process_start);
        LogReader reader(file);
        reader.hold_back(options_.until_ticks);
        LogTables tables;
        HeapReplay replay(tables, header.exit_began_ticks, [&] {
            reader.scan(format::Tag::api, [&](const Record& record) { tables.define(record); });
        });
        Marks marks;
        if (!running) // then they are only on their way
            replay.expect(reader.pending_frees());
        replay_all(reader, replay, marks, logs);
        const std::vector<LostBlocks> lost = replay.lost();

        Process process = describe_process(file, tables, judge_end(header, running));
        process.duration_ns = reader.clock().ns(replay.counts().last_ticks);
        add_marks(process, marks, reader.clock(), tables);
        process.totals = totals_of(replay.counts(), lost);
        process.coverage = coverage_of(replay.counts(), tables, reader, header, running);
        StackReader stacks(tables, symbolizer_, options_.all_frames);
        const CallSource calls{reader.clock(), stacks, report_.processes.size()};
        FailedCalls failed = replay.failed_calls();
        const bool crashed = process.end.crashed();
        if (!failed.freed_addresses().empty() || (crashed && !reader.pending_frees().empty())) {
            const bool complete = is_whole(process.coverage);
            const FreeHistory history = read_again(file, tables, failed, complete, reader);
            std::vector<Misuse> misuse = find_misuse(history.misuses(), calls);
            std::move(misuse.begin(), misuse.end(), std::back_inserter(report_.misuse));
            for (const PendingFree& free : reader.pending_frees()) {
                if (crashed && tables.api(free.api))
                    process.crashed_in.push_back(describe_free(history.judge(free), calls));
            }
        }
        std::vector<FailedCall> failures = find_failed_calls(failed.groups(), calls);
        std::move(failures.begin(), failures.end(), std::back_inserter(report_.failed_calls));
        report_.take(find_leaks(lost, {tables, reader.clock(), process.end, process.duration_ns,
                                       report_.processes.size(), stacks}));
        add_lines(process, replay, logs > 1);
        report_.processes.push_back(std::move(process));
    }

private:
    void replay_all(LogReader& reader, HeapReplay& replay, Marks& marks, std::size_t logs)
    {
        const auto done = static_cast<double>(report_.processes.size());
        std::uint64_t records = 0;
        while (const Record* const record = reader.next()) {
            replay.apply(*record);
            marks.apply(*record);
            if (++records % kRecordsPerProgress == 0 && options_.progress)
                options_.progress((done + reader.fraction_read()) / static_cast<double>(logs));
        }
        replay.finish();
        if (options_.progress)
            options_.progress((done + 1) / static_cast<double>(logs));
    }

    // Follows the addresses of the frees that were refused or in flight. Frees that turn out to be
    // no misuse join the other failed calls.
    static FreeHistory read_again(const LogFile& file, const LogTables& tables, FailedCalls& failed,
                                  bool complete, const LogReader& first)
    {
        std::unordered_set<std::uint64_t> addresses = failed.freed_addresses();
        for (const PendingFree& free : first.pending_frees())
            addresses.insert(free.address);
        FreeHistory history(tables, addresses, complete);
        LogReader reader(file);
        while (const Record* const record = reader.next()) {
            if (history.apply(*record))
                failed.add_refused(*record, decode_failed(*record));
        }
        return history;
    }

    static Process describe_process(const LogFile& file, const LogTables& tables,
                                    const ProcessEnd& end)
    {
        Process process;
        process.pid = file.header().pid;
        process.threads = file.header().threads;
        process.parent_pid = file.header().parent_pid;
        process.log = file.path();
        process.started = utc(file.header().start_real_ns);
        process.end = end;
        process.info = tables.info();
        process.program = process.info_value("program");
        process.command = process.info_value("command");
        for (const LoggedDevice& device : tables.devices())
            process.devices.push_back({device.ordinal, device.bytes, device.name});
        std::sort(process.devices.begin(), process.devices.end(),
                  [](const DeviceInfo& a, const DeviceInfo& b) { return a.ordinal < b.ordinal; });
        return process;
    }

    void add_lines(const Process& process, const HeapReplay& replay, bool name_process)
    {
        const std::string prefix = name_process ? fmt::format("process {}: ", process.pid) : "";
        for (const std::string& reason : reasons_for_doubt(process))
            report_.reasons.push_back(prefix + reason);
        std::vector<std::string> notices;
        add_notices(notices, process, replay);
        for (const std::string& notice : notices)
            report_.notices.push_back(prefix + notice);
    }

    Report& report_;
    const Options& options_;
    Symbolizer& symbolizer_;
};

void sum_up(Report& report)
{
    for (const Process& process : report.processes) {
        report.totals += process.totals;
        report.coverage += process.coverage;
    }
    if (report.coverage.events > 0 && report.coverage.allocations + report.coverage.frees > 0)
        return;
    report.reasons.push_back(
        "no CUDA memory call was seen: `vramscope doctor` tells why that can be");
}

// Both are sorted.
void unite(std::vector<std::string>& names, const std::vector<std::string>& more)
{
    std::vector<std::string> both;
    std::set_union(names.begin(), names.end(), more.begin(), more.end(), std::back_inserter(both));
    names = std::move(both);
}

} // namespace

Totals& Totals::operator+=(const Totals& other)
{
    allocations += other.allocations;
    frees += other.frees;
    allocated_bytes += other.allocated_bytes;
    peak_device_bytes = std::max(peak_device_bytes, other.peak_device_bytes);
    peak_host_bytes = std::max(peak_host_bytes, other.peak_host_bytes);
    leaked_bytes += other.leaked_bytes;
    leaked_blocks += other.leaked_blocks;
    for (const MemoryTotal& total : other.leaked_by_memory)
        add_to(leaked_by_memory, total);
    unclosed_imports += other.unclosed_imports;
    unclosed_import_bytes += other.unclosed_import_bytes;
    graph_bytes += other.graph_bytes;
    reserved_address_bytes += other.reserved_address_bytes;
    address_reservations += other.address_reservations;
    return *this;
}

Coverage& Coverage::operator+=(const Coverage& other)
{
    events += other.events;
    allocations += other.allocations;
    frees += other.frees;
    unmatched_frees += other.unmatched_frees;
    missed_frees += other.missed_frees;
    undefined_events += other.undefined_events;
    graph_allocations += other.graph_allocations;
    failed_calls += other.failed_calls;
    names_given += other.names_given;
    pool_trims += other.pool_trims;
    for (std::size_t reason = 0; reason < lost.size(); ++reason)
        lost[reason] += other.lost[reason];
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

std::string Process::info_value(std::string_view key) const
{
    for (const auto& [name, value] : info) {
        if (name == key)
            return value;
    }
    return {};
}

Report make_report(const std::vector<std::filesystem::path>& logs, const Options& options)
{
    Report report;
    Symbolizer symbolizer(options.symbols);
    LogReport one_log(report, options, symbolizer);
    for (const std::filesystem::path& log : logs)
        one_log.read(log, logs.size());
    report.sort();
    sum_up(report);
    if (report.reasons.empty())
        report.verdict = report.totals.leaked_blocks + report.totals.unclosed_imports == 0
                             ? Verdict::clean
                             : Verdict::leaks;
    for (std::string& notice : symbolizer.notices())
        report.notices.push_back(std::move(notice));
    return report;
}

const char* name(Verdict verdict) noexcept
{
    switch (verdict) {
    case Verdict::clean:
        return "clean";
    case Verdict::leaks:
        return "leaks";
    case Verdict::inconclusive:
        break;
    }
    return "inconclusive";
}

const char* name(format::Lost reason) noexcept
{
    switch (reason) {
    case format::Lost::no_space:
        return "no-space";
    case format::Lost::no_thread:
        return "no-thread";
    case format::Lost::signal:
        return "signal";
    case format::Lost::table_full:
        return "table-full";
    case format::Lost::ended:
        return "ended";
    }
    return "other";
}

} // namespace vramscope::report
