// report/findings/make_report.cpp — one process per log, then the sums and the verdict.
#include "report/findings/make_report.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "report/findings/churn.hpp"
#include "report/findings/damage.hpp"
#include "report/findings/frameworks.hpp"
#include "report/findings/growth/growth_table.hpp"
#include "report/findings/memory/memory.hpp"
#include "report/findings/memory/tests.hpp"
#include "report/findings/misuse.hpp"
#include "report/findings/newer_functions.hpp"
#include "report/findings/pool.hpp"
#include "report/findings/process_end.hpp"
#include "report/findings/shortages.hpp"
#include "report/findings/totals.hpp"
#include "report/judge/judge.hpp"
#include "report/log/log_reader.hpp"
#include "report/model/report.hpp"
#include "report/replay/misuse.hpp"
#include "report/replay/replays.hpp"

namespace vramscope::report {

namespace {

constexpr std::uint64_t kRecordsPerProgress = 1 << 16;

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
    for (const auto& [key, sentence] : process.info)
        if (key == "imported.unknown")
            notices.push_back(sentence);
    if (const std::string why = process.info_value("python.off"); !why.empty())
        notices.push_back(fmt::format("functions of Python {} are missing from the stacks: {}",
                                      process.info_value("python"), why));
    if (const std::string why = process.info_value("backward.off"); !why.empty())
        notices.push_back(fmt::format(
            "stacks of backward passes do not say which line's backward it is: {}", why));
    if (const std::string why = process.info_value("active.off"); !why.empty())
        notices.push_back(fmt::format("PyTorch's active bytes are not known: {}", why));
    for (const FrameworkUse& use : process.frameworks)
        if (std::string notice = notice_about(use); !notice.empty())
            notices.push_back(std::move(notice));
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

std::string unknown_step(const std::string& wanted, const Steps& steps)
{
    constexpr std::size_t kNamed = 8;
    std::string names;
    const std::size_t named = std::min(steps.all().size(), kNamed);
    for (std::size_t at = 0; at < named; ++at)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", steps.all()[at].name);
    return fmt::format("growth is not told per \"{}\": no range and no mark has that name; {}{}",
                       wanted, names.empty() ? "there are none" : "there are " + names,
                       named < steps.all().size() ? " and others" : "");
}

// Reads one log into the report.
class LogReport {
public:
    LogReport(Report& report, const Options& options, Symbolizer& symbolizer)
        : report_(report), options_(options), symbolizer_(symbolizer)
    {
    }

    // What is to be known of the frames' names, from files and from logs.
    std::vector<std::string> notices_of_names() const
    {
        std::vector<std::string> notices = symbolizer_.notices();
        notices.insert(notices.end(), logged_notices_.begin(), logged_notices_.end());
        return notices;
    }

    void read(const std::filesystem::path& path, std::size_t logs)
    {
        const LogFile file = LogFile::open(path);
        const format::FileHeader& header = file.header();
        const bool running =
            options_.until_ticks != UINT64_MAX || options_.until_ns || is_running(header);
        LogReader reader(file);
        reader.hold_back(options_.until_ns ? std::min(options_.until_ticks,
                                                      reader.clock().ticks_at(*options_.until_ns))
                                           : options_.until_ticks);
        const auto find_apis = [&file](LogTables& defined) {
            LogReader(file).scan(format::Tag::api,
                                 [&](const Record& record) { defined.define(record); });
        };
        LogTables tables(find_apis);
        Replays replays(tables, header.exit_began_ticks, reader.clock(),
                        {.span_peaks = options_.for_page});
        HeapReplay& replay = replays.heap;
        replay.expect_segments(find_segment_births(file));
        if (!running) // in a running program they are only on their way
            replay.expect(reader.pending_frees());
        ReadAhead batches(reader, find_apis);
        replay_all(batches, replays, logs);
        const std::vector<LostBlocks> lost = replay.lost();

        Process process =
            describe_process(file, tables,
                             options_.until_ns ? ProcessEnd{.kind = ProcessEnd::Kind::not_read}
                                               : judge_end(header, running));
        process.duration_ns = reader.clock().ns(replay.counts().last_ticks);
        add_marks(process, replays.marks, reader.clock(), tables);
        process.coverage = coverage_of(replay.counts(), tables, reader, header, running);
        StackReader stacks(tables, symbolizer_,
                           options_.all_frames ? ShownFrames::all : ShownFrames::own,
                           &options_.suppressions);
        process.pool = describe_pool(batches.segments(), replays.memory, tables, reader.clock(),
                                     process.duration_ns, options_.for_page ? &stacks : nullptr);
        if (options_.for_page)
            process.allocator_maps =
                describe_allocators(replay, replays.memory, process.duration_ns, stacks);
        process.shortage_count = replays.shortages.count();
        process.churn =
            describe_churn(replays.churn, replay.sites(), tables, reader.clock(), stacks);
        if (!report_.interrupted)
            add_refused_and_damaged(process, {file, tables, reader, replays, stacks});
        // After a reading that was interrupted, it is not known what was freed later.
        const ProcessEnd end =
            report_.interrupted ? ProcessEnd{.kind = ProcessEnd::Kind::running} : process.end;
        const LeakSource source{
            tables, reader.clock(), end, process.duration_ns, report_.processes.size(), stacks};
        move_to(report_.shortages, find_shortages(replays.shortages.kept(), process.pool.known,
                                                  options_.for_page, source));
        process.memory =
            describe_memory({replay, replays.memory, replays.holders, replays.shortages,
                             replays.span_peaks, process.pool, source});
        add_leaks(process, replays, header, lost, source);
        process.test_count = replays.tests.count();
        process.tests = find_tests(replays.tests, replay.sites(), source);
        add_lines(process, replay, logs > 1);
        logged_notices_.insert(logged_notices_.end(), tables.names_notices().begin(),
                               tables.names_notices().end());
        report_.processes.push_back(std::move(process));
    }

private:
    struct FirstReading {
        const LogFile& file;
        LogTables& tables;
        const LogReader& reader;
        const Replays& replays;
        StackReader& stacks;
    };

    template <typename Row>
    static void move_to(std::vector<Row>& rows, std::vector<Row>&& more)
    {
        std::move(more.begin(), more.end(), std::back_inserter(rows));
    }

    void add_leaks(Process& process, const Replays& replays, const format::FileHeader& header,
                   const std::vector<LostBlocks>& lost, const LeakSource& source)
    {
        const std::uint64_t last = replays.heap.counts().last_ticks;
        const Work work{.allocations = replays.growth.allocations(),
                        .begin_ticks = header.start_ticks,
                        .end_ticks = header.exit_began_ticks != 0 ? header.exit_began_ticks : last};
        const StepName* const wanted =
            options_.per.empty() ? nullptr : replays.steps.named(options_.per);
        if (!options_.per.empty() && !wanted)
            report_.notices.push_back(unknown_step(options_.per, replays.steps));
        if (const StepName* const steps = wanted ? wanted : replays.steps.best(work)) {
            process.step_name = steps->name;
            process.step_count = steps->counter.count();
        }
        const GrowthSource growth{.sites = replays.heap.sites(),
                                  .phases = replays.heap.phases(),
                                  .series = replays.growth,
                                  .steps = replays.steps,
                                  .wanted = wanted,
                                  .work = work,
                                  .log_end_ticks = last};
        const GrowthTable table(growth, lost, source);
        move_to(report_.growth, table.growing());
        LostRows rows = find_leaks(lost, source, &table);
        process.totals = totals_of(replays.heap.counts(), rows);
        report_.take(std::move(rows));
    }

    // An interrupted reading is replayed up to where the reader had come.
    void replay_all(ReadAhead& batches, Replays& replays, std::size_t logs)
    {
        const auto done = static_cast<double>(report_.processes.size());
        double fraction = 0;
        std::uint64_t records = 0;
        std::uint64_t told = 0; // records when progress was told last
        while (const RecordBatch* const batch = batches.next()) {
            replays.apply(*batch, batches.segments());
            fraction = (done + batch->fraction_read()) / static_cast<double>(logs);
            records += batch->records().size();
            if (records - told < kRecordsPerProgress)
                continue;
            told = records;
            if (options_.progress)
                options_.progress(fraction);
            if (options_.interrupted && options_.interrupted()) {
                report_.interrupted = true;
                batches.stop();
            }
        }
        if (report_.interrupted)
            tell_of_interruption(fraction, logs);
        replays.finish();
        if (options_.progress && !report_.interrupted)
            options_.progress((done + 1) / static_cast<double>(logs));
    }

    void tell_of_interruption(double fraction, std::size_t logs)
    {
        report_.reasons.push_back(
            fmt::format("the reading was interrupted after {:.0f} % of the log{}: what was in use "
                        "there is listed",
                        100 * fraction, logs == 1 ? "" : "s"));
    }

    // A second reading tells what wrong frees, frees in flight and damaged memory were about.
    void add_refused_and_damaged(Process& process, const FirstReading& first)
    {
        const CallSource calls{first.reader.clock(), first.stacks, report_.processes.size()};
        FailedCalls failed = first.replays.heap.failed_calls();
        first.replays.shortages.forget_mended(failed);
        Damages damages = first.replays.damages;
        const bool crashed = process.end.crashed();
        if (!failed.freed_addresses().empty() || !damages.addresses().empty() ||
            (crashed && !first.reader.pending_frees().empty())) {
            const bool complete = process.coverage.is_whole();
            const MisuseReplay misuse = read_again(first, failed, damages, complete);
            move_to(report_.misuse, find_misuse(misuse.groups(), calls));
            move_to(report_.damage, find_damage(damages.groups(), calls));
            for (const PendingFree& free : first.reader.pending_frees()) {
                if (crashed && first.tables.api(free.api))
                    process.crashed_in.push_back(describe_free(misuse.judge(free), calls));
            }
        }
        move_to(report_.failed_calls, find_failed_calls(failed.groups(), calls));
    }

    // Follows the addresses. Frees that turn out to be no misuse join the other failed calls.
    static MisuseReplay read_again(const FirstReading& first, FailedCalls& failed, Damages& damages,
                                   bool complete)
    {
        std::unordered_set<std::uint64_t> addresses = failed.freed_addresses();
        addresses.insert(damages.addresses().begin(), damages.addresses().end());
        for (const PendingFree& free : first.reader.pending_frees())
            addresses.insert(free.address);
        MisuseReplay misuse(first.tables, addresses, complete);
        LogReader reader(first.file);
        while (const Record* const record = reader.next()) {
            if (misuse.apply(*record))
                failed.add_refused(*record, *record->as<format::Failed>());
            damages.apply(*record, misuse);
        }
        return misuse;
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
        process.frameworks = find_frameworks(tables);
        process.nodes = {file.header().nodes_with_origin, file.header().nodes_without_origin};
        process.program = process.info_value("program");
        process.command = process.info_value("command");
        for (const LoggedDevice& device : tables.devices())
            process.devices.push_back({device.ordinal, device.bytes, device.name});
        std::sort(process.devices.begin(), process.devices.end(),
                  [](const DeviceInfo& a, const DeviceInfo& b) { return a.ordinal < b.ordinal; });
        return process;
    }

    void add_lines(Process& process, const HeapReplay& replay, bool name_process)
    {
        const std::string prefix = name_process ? fmt::format("process {}: ", process.pid) : "";
        process.doubts = reasons_for_doubt(process);
        for (const std::string& reason : process.doubts)
            report_.reasons.push_back(prefix + reason);
        std::vector<std::string> notices;
        add_notices(notices, process, replay);
        for (const std::string& notice : notices)
            report_.notices.push_back(prefix + notice);
    }

    Report& report_;
    const Options& options_;
    Symbolizer& symbolizer_;
    std::vector<std::string> logged_notices_; // of names that were in logs
};

void sum_up(Report& report)
{
    for (const Process& process : report.processes) {
        report.totals += process.totals;
        report.coverage += process.coverage;
    }
    if (saw_memory_call(report))
        return;
    report.reasons.push_back(
        "no CUDA memory call was seen: `vramscope doctor` tells why that can be");
}

} // namespace

Report make_report(const std::vector<std::filesystem::path>& logs, const Options& options)
{
    Report report;
    Symbolizer symbolizer(options.symbols);
    LogReport one_log(report, options, symbolizer);
    for (const std::filesystem::path& log : logs) {
        one_log.read(log, logs.size());
        if (report.interrupted)
            break;
    }
    report.sort();
    suppress(report, options.suppressions);
    count_leaks(report);
    sort_by_speed(report.growth);
    sum_up(report);
    report.ranks = compare_ranks(report);
    if (report.reasons.empty())
        report.verdict = report.totals.leaked_blocks + report.totals.unclosed_imports == 0
                             ? Verdict::clean
                             : Verdict::leaks;
    report.unread_files = symbolizer.unread_files();
    report.sysroot = options.symbols.sysroot.string();
    for (const PathMap& map : options.symbols.path_maps)
        report.path_maps.push_back(map.from.string() + "=" + map.to.string());
    for (std::string& notice : one_log.notices_of_names())
        if (std::find(report.notices.begin(), report.notices.end(), notice) == report.notices.end())
            report.notices.push_back(std::move(notice));
    return report;
}

std::string utc(std::uint64_t real_ns)
{
    const auto seconds = static_cast<std::time_t>(real_ns / 1'000'000'000);
    std::tm parts{};
    if (real_ns == 0 || !::gmtime_r(&seconds, &parts))
        return {};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

} // namespace vramscope::report
