// report/findings/log_report.cpp — the steps from a log to rows, and why they come in this order.
#include "report/findings/log_report.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "report/checkpoint/log_replay.hpp"
#include "report/error.hpp"
#include "report/findings/findings.hpp"
#include "report/findings/followed.hpp"
#include "report/findings/growth/growth_table.hpp"
#include "report/findings/memory/memory.hpp"
#include "report/findings/process_end.hpp"
#include "report/findings/timed_calls.hpp"
#include "report/judge/judge.hpp"
#include "report/model/append.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/replay/replays.hpp"
#include "report/rules/hold_rules.hpp"
#include "report/rules/owners.hpp"

namespace vramscope::report {
namespace {

ReadingExtent extent_of(const format::FileHeader& header, const Options& options)
{
    return {.until_ticks = options.until_ticks,
            .until_ns = options.until_ns,
            .runs_on = options.until_ticks != UINT64_MAX || options.until_ns || is_running(header)};
}

void add_marks(Process& process, const Marks& marks, const TickClock& clock,
               const LogTables& tables)
{
    process.mark_count = marks.count();
    for (const LoggedMark& mark : marks.kept())
        process.marks.push_back({clock.ns(mark.ticks), mark.name, tables.thread(mark.thread).tid});
}

void check_that_sums_tell(const Rules& rules, const std::filesystem::path& log)
{
    for (const Rule& rule : rules.rules)
        if (!is_told_by_sums(rule))
            throw Error(Exit::usage,
                        fmt::format("'{}' was collected, and the rule '{}' needs each event: sums "
                                    "tell of what is allocated or made, but of driver-alloc, and "
                                    "of limit live, without ranges, marks, captures and threads",
                                    log.string(), rule.name));
}

std::uint64_t requests_of(const Sites& sites)
{
    std::uint64_t requests = 0;
    for (const Site& site : sites.all()) {
        const bool segment = class_of(site.memory) == format::MemoryClass::reserved;
        if (segment || (is_own_memory(site.memory) && site.memory != format::Memory::suballocated))
            requests += site.allocations + site.frees;
    }
    return requests;
}

} // namespace

// A log, and what was replayed of it.
struct LogReport::ReplayedLog {
    ReplayedLog(const LogFile& file, const Options& options, Symbolizer& symbolizer)
        : header(file.header()),
          store(options.for_page || options.all_sites || options.from_ns ? nullptr
                                                                         : options.checkpoints),
          replay(begin_replay(file, extent_of(header, options),
                              {.span_peaks = options.for_page, .site_peaks = options.all_sites},
                              store)),
          stacks(reading.tables(), symbolizer,
                 options.all_frames ? ShownFrames::all : ShownFrames::own, &options.suppressions)
    {
        if (options.from_ns)
            list_since(*options.from_ns);
    }

    void list_since(std::uint64_t ns)
    {
        const std::uint64_t ticks = reading.clock().ticks_at(ns);
        if (ticks < replay->collected_ticks)
            throw Error(Exit::usage,
                        fmt::format("'{}' was collected, and what was allocated since a time is "
                                    "known from {:.3f}s on: give --from that or later",
                                    reading.file().path().string(),
                                    seconds_from(reading.clock().ns(replay->collected_ticks))));
        replays.heap.list_since(ticks);
    }

    const format::FileHeader& header;
    CheckpointStore* const store; // null: the whole log is read
    const std::unique_ptr<LogReplay> replay;
    Reading& reading = replay->reading;
    Replays& replays = replay->replays;
    StackReader stacks;
};

// The process is described first: what is lost, lacking or a leak is judged by its end, its length
// and its pool. A second reading follows the addresses that the first one found, with all that the
// first defined; what needs no more than the first does not wait for it. Doubts and notices are
// about all of these rows, so they come last.
void LogReport::read(const std::filesystem::path& path)
{
    const LogFile file = LogFile::open(path, LogFile::Collected::taken);
    if (file.collected())
        check_that_sums_tell(options_.rules, path);
    ReplayedLog log(file, options_, symbolizer_);
    replay(log);
    log.stacks.find_wrappers(log.replays.heap.sites().all());
    Process process = describe_process(log);
    add_replayed_rows(process, log);
    if (!report_.interrupted)
        add_followed_rows(process, log);
    if (!options_.rules.rules.empty() && !report_.interrupted)
        process.rules =
            file.collected()
                ? hold_rules(options_.rules, log.reading.tables(),
                             {log.replays.heap.sites(), log.replays.contexts,
                              log.replay->wrong_frees->misuse},
                             symbolizer_)
                : hold_rules(options_.rules, file, extent_of(file.header(), options_), symbolizer_);
    add_lines(process, log);
    report_.processes.push_back(std::move(process));
}

std::vector<std::string> LogReport::notices_of_names() const
{
    std::vector<std::string> notices = symbolizer_.notices();
    notices.insert(notices.end(), logged_notices_.begin(), logged_notices_.end());
    return notices;
}

// An interrupted reading is replayed up to where the reader had come.
void LogReport::replay(ReplayedLog& log)
{
    const auto done = static_cast<double>(report_.processes.size());
    const auto of_all = [&](double fraction) {
        return (done + fraction) / static_cast<double>(logs_);
    };
    ReadingControl control{.progress = {}, .interrupted = options_.interrupted};
    if (options_.progress)
        control.progress = [&](double fraction) { options_.progress(of_all(fraction)); };
    log.replay->read(control);
    if (!log.reading.interrupted())
        keep_checkpoint(*log.replay, log.store);
    log.replays.finish();
    report_.interrupted = log.reading.interrupted();
    if (report_.interrupted)
        tell_of_interruption(of_all(log.reading.fraction_read()));
    else if (options_.progress)
        options_.progress(of_all(1));
}

void LogReport::tell_of_interruption(double fraction)
{
    report_.reasons.push_back(
        fmt::format("the reading was interrupted after {:.0f} % of the log{}: what was in use "
                    "there is listed",
                    100 * fraction, logs_ == 1 ? "" : "s"));
}

Process LogReport::describe_process(const ReplayedLog& log) const
{
    const format::FileHeader& header = log.header;
    const LogTables& tables = log.reading.tables();
    const ReplayCounts counts = log.replays.heap.counts();
    const bool running = log.reading.runs_on();
    Process process;
    process.pid = header.pid;
    process.threads = header.threads;
    process.parent_pid = header.parent_pid;
    process.log = log.reading.file().path();
    process.started = utc(header.start_real_ns);
    process.started_ns = header.start_real_ns;
    process.end = options_.until_ns ? ProcessEnd{.kind = ProcessEnd::Kind::not_read}
                                    : judge_end(header, running);
    process.duration_ns = log.reading.clock().ns(counts.last_ticks);
    process.info = tables.info();
    process.frameworks = find_frameworks(tables);
    process.nodes = {header.nodes_with_origin, header.nodes_without_origin};
    process.program = process.info_value("program");
    process.command = process.info_value("command");
    for (const LoggedDevice& device : tables.devices())
        process.devices.push_back({device.ordinal, device.bytes, device.name});
    std::sort(process.devices.begin(), process.devices.end(),
              [](const DeviceInfo& a, const DeviceInfo& b) { return a.ordinal < b.ordinal; });
    add_marks(process, log.replays.marks, log.reading.clock(), tables);
    process.coverage = coverage_of(counts, tables, log.reading.reader(), header, running);
    return process;
}

void LogReport::add_replayed_rows(Process& process, ReplayedLog& log)
{
    Replays& replays = log.replays;
    const LogTables& tables = log.reading.tables();
    const TickClock& clock = log.reading.clock();
    process.pool = describe_pool(log.reading.pool(), replays.memory, tables, clock,
                                 process.duration_ns, options_.for_page ? &log.stacks : nullptr);
    if (options_.for_page)
        process.allocator_maps =
            describe_allocators(replays.heap, replays.memory, process.duration_ns, log.stacks);
    process.requests = requests_of(replays.heap.sites());
    process.churn = describe_churn(replays.churn, replays.heap.sites(), tables, clock, log.stacks);
    // After a reading that was interrupted, it is not known what was freed later.
    const ProcessEnd end =
        report_.interrupted ? ProcessEnd{.kind = ProcessEnd::Kind::running} : process.end;
    const LeakSource source{tables,    clock, end, process.duration_ns, report_.processes.size(),
                            log.stacks};
    process.shortage_count = replays.shortages.count();
    append(report_.shortages,
           find_shortages(replays.shortages.kept(), process.pool.known, options_.for_page, source));
    process.memory = describe_memory({replays.heap, replays.memory, replays.holders,
                                      replays.shortages, replays.span_peaks, process.pool, source});
    process.host =
        find_compositions(replays.span_peaks, SpanPeaks::kHost, replays.heap.sites(), source);
    add_leaks(process, log, source);
    if (options_.all_sites)
        process.sites =
            sum_up_sites(replays.heap.sites(), replays.site_peaks, replays.holders, log.stacks);
    std::vector<ContextRow> contexts = find_contexts(replays.contexts, replays.heap, tables,
                                                     {clock, log.stacks, report_.processes.size()});
    count_devices(process, contexts);
    append(report_.contexts, std::move(contexts));
    if (!options_.rules.owners.empty()) {
        StackReader all(tables, symbolizer_, ShownFrames::all); // conditions look at each frame
        const Sites& sites = replays.heap.sites();
        append(report_.by_owner, sum_up_owners(options_.rules.owners, sites,
                                               bytes_at_peaks(replays.holders, sites.all().size()),
                                               all, report_.processes.size()));
    }
    process.test_count = replays.tests.count();
    process.tests = find_tests(replays.tests, replays.heap.sites(), source);
}

void LogReport::add_leaks(Process& process, const ReplayedLog& log, const LeakSource& source)
{
    const Replays& replays = log.replays;
    const std::uint64_t last = replays.heap.counts().last_ticks;
    const Work work{
        .allocations = replays.growth.allocations(),
        .begin_ticks = log.header.start_ticks,
        .end_ticks = replays.growth.work_end().ticks(last, !process.info_value("python").empty())};
    const StepName* wanted = options_.per.empty() ? nullptr : replays.steps.named(options_.per);
    if (replays.steps.left_out_names())
        report_.notices.push_back(fmt::format(
            "more than {} names of ranges and marks: growth is not told per those that came later",
            Steps::kMostNames));
    if (!options_.per.empty() && !wanted)
        report_.notices.push_back(unknown_step(options_.per, replays.steps));
    if (wanted && wanted->counter.count() < kFewestSteps) {
        report_.notices.push_back(few_steps(options_.per, wanted->counter.count()));
        wanted = nullptr;
    }
    const ChosenSteps chosen(replays.steps, work);
    if (const StepName* const steps = wanted ? wanted : chosen.best()) {
        process.step_name = steps->name;
        process.step_count = steps->counter.count();
    }
    const GrowthSource growth{.sites = replays.heap.sites(),
                              .phases = replays.heap.phases(),
                              .series = replays.growth,
                              .steps = chosen,
                              .wanted = wanted,
                              .work = work,
                              .log_end_ticks = last};
    const std::vector<LostBlocks> lost = replays.heap.lost();
    if (list_largest(lost, source.stacks) > 0)
        report_.notices.push_back(fmt::format(
            "memory of {} call stacks was not freed: the {} that hold the most are listed, the "
            "others are one row",
            lost.size(), kMostListed));
    if (replays.heap.sites().all().size() > kMostSites)
        report_.notices.push_back(fmt::format(
            "more than {} call stacks allocate: those that began after these are not told apart",
            kMostSites));
    const GrowthTable table(growth, lost, source);
    std::vector<Growth> growing = table.growing();
    append(report_.workspaces, find_workspaces(growing));
    append(report_.growth, std::move(growing));
    process.objects = sum_up_objects(replays.heap.sites());
    append(report_.objects,
           find_objects(replays.heap.sites(), replays.memory.taken(), source, table));
    LostRows rows = find_leaks(lost, source, &table);
    process.totals = totals_of(replays.heap.counts(), rows);
    if (source.end.conclusive())
        rows.held = find_held(replays.growth.freed_last(), replays.heap.sites(), source, table);
    const Searches& searches = options_.search ? *options_.search : replays.searches;
    add_reach(rows.leaks, searches, source);
    process.search = sum_up_search(searches, log.reading.clock());
    report_.take(std::move(rows));
}

std::optional<TimedCall> last_allocation(const Sites& sites, const CallSource& source)
{
    const auto last =
        std::max_element(sites.all().begin(), sites.all().end(),
                         [](const Site& a, const Site& b) { return a.last_ticks < b.last_ticks; });
    if (last == sites.all().end() || last->stack == 0)
        return std::nullopt;
    return read_call({.api = last->api, .stack = last->stack, .ticks = last->last_ticks}, source);
}

// What wrong frees, damaged memory, and the frees in which a process crashed were about.
void LogReport::add_followed_rows(Process& process, ReplayedLog& log)
{
    const CallSource calls{log.reading.clock(), log.stacks, report_.processes.size()};
    const bool crashed = process.end.crashed();
    std::span<const PendingFree> pending;
    if (crashed)
        pending = log.reading.reader().pending_frees();
    FailedCalls failed = log.replays.heap.failed_calls();
    log.replays.shortages.forget_mended(failed);
    const bool whole = process.coverage.is_whole();
    const Followed followed =
        log.replay->wrong_frees ? follow(*log.replay->wrong_frees, failed, whole)
                                : follow(log.reading, failed, log.replays.damages, pending, whole);
    add_rows(report_, followed, calls);
    for (const PendingFree& free : pending)
        if (log.reading.tables().is_defined(free.api))
            process.crashed_in.push_back(describe_free(followed.misuse.judge(free), calls));
    if (crashed && process.crashed_in.empty())
        process.last_seen = last_allocation(log.replays.heap.sites(), calls);
}

void LogReport::add_lines(Process& process, const ReplayedLog& log)
{
    const std::string prefix = logs_ > 1 ? fmt::format("process {}: ", process.pid) : "";
    process.doubts = reasons_for_doubt(process);
    if (options_.from_ns)
        process.doubts.emplace_back(
            "what was allocated before the time of --from is not among what was not freed");
    if (log.reading.found_segments_late())
        process.doubts.emplace_back(
            "when the log was collected, it was not known of some memory that an allocator of the "
            "program's cuts it: it may be counted twice in peaks");
    for (const std::string& reason : process.doubts)
        report_.reasons.push_back(prefix + reason);
    for (const std::string& notice : notices_about(process, log.replays.heap, log.reading.reader()))
        report_.notices.push_back(prefix + notice);
    const std::vector<std::string>& of_names = log.reading.tables().names_notices();
    logged_notices_.insert(logged_notices_.end(), of_names.begin(), of_names.end());
}

} // namespace vramscope::report
