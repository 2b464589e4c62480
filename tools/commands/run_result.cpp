// tools/commands/run_result.cpp — the logs stamped, read and judged.
#include "tools/commands/run_result.hpp"

#include <algorithm>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/judge/judge.hpp"
#include "report/log/log_file.hpp"
#include "report/model/check.hpp"
#include "report/model/process_end.hpp"
#include "report/model/report.hpp"
#include "report/page/page.hpp"
#include "report/text/views.hpp"
#include "report/words/check_words.hpp"
#include "report/words/words.hpp"
#include "tools/commands/run_tables.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/results.hpp"
#include "tools/process/diagnosis.hpp"
#include "tools/process/log_stamp.hpp"

namespace vramscope {
namespace {

std::vector<std::filesystem::path> stamp_logs(const std::vector<RunLog>& logs, pid_t child,
                                              int wait_status)
{
    std::vector<std::filesystem::path> paths;
    for (const RunLog& log : logs) {
        SeenByParent seen;
        seen.exec_seen = log.exec_seen;
        if (log.pid == child && !log.exec_seen)
            seen.wait_status = wait_status;
        const std::string problem =
            seen.wait_status || seen.exec_seen ? stamp_log(log.path, log.pid, seen) : "";
        if (!problem.empty())
            warn(fmt::format("{}: how its process ended could not be noted: {}", log.path.string(),
                             problem));
        const auto nearby = log.path.lexically_relative(std::filesystem::current_path());
        paths.push_back(nearby.empty() || nearby.string().starts_with("..") ? log.path : nearby);
    }
    return paths;
}

// Nothing is known of a process that could not make its log; where there is no driver, there was
// nothing to know.
bool tells_of_a_lost_process(const Announcement& note, const std::vector<RunLog>& logs)
{
    return !note.text.starts_with("cuInit failed") &&
           std::none_of(logs.begin(), logs.end(),
                        [&](const RunLog& log) { return log.pid == note.pid; });
}

report::Options reading_for(const Judgement& judgement, const RunOutputs& outputs)
{
    report::Options reading;
    reading.suppressions = judgement.suppressions;
    reading.symbols = judgement.symbols;
    reading.rules = judgement.rules;
    reading.for_page = outputs.html.wanted();
    reading.all_sites = !outputs.reduced.empty();
    return reading;
}

// A search comes when main returns or exit() is called.
void tell_what_was_not_searched(report::Report& report)
{
    for (const report::Process& process : report.processes)
        if (process.totals.leaked_blocks > 0 && !process.has_search()) {
            report.notices.push_back(fmt::format(
                "--reach: the memory of {} was not searched: it did not end by exit() or by main's "
                "return, could not be read, or it took too long",
                report::process_name(report, process)));
            say(report.notices.back());
        }
}

report::Report read_what_was_seen(const EndedRun& run, const report::Options& reading,
                                  const std::vector<Announcement>& announcements,
                                  const std::vector<std::filesystem::path>& logs)
{
    report::Report report;
    if (!logs.empty())
        report = read_logs(logs, reading);
    for (const Announcement& entry : announcements) {
        if (entry.kind != "note") // told by the traced process too, but perhaps long ago
            continue;
        const bool doubt = logs.empty() || tells_of_a_lost_process(entry, logs_of(announcements));
        (doubt ? report.reasons : report.notices).push_back(entry.text);
        if (doubt)
            report.verdict = report::Verdict::inconclusive;
    }
    const bool nothing_seen = !report::saw_memory_call(report);
    for (std::string& doubt :
         doubts_of(left_running(run.process, run.file.path(), announcements), nothing_seen)) {
        report.reasons.push_back(std::move(doubt));
        report.verdict = report::Verdict::inconclusive;
    }
    if (nothing_seen) {
        const auto reasons = report.reasons.empty()
                                 ? why_nothing_was_seen(run.program, run.simulate, run.installation,
                                                        run.driver, !announcements.empty())
                                 : gpu_obstacles(run.program, run.simulate, run.installation,
                                                 find_driver(run.simulate, Ask::all));
        report.reasons.insert(report.reasons.end(), reasons.begin(), reasons.end());
    }
    if (run.reach)
        tell_what_was_not_searched(report);
    report.headlines = report::headlines_of(report); // what was found out here is in them too
    return report;
}

bool is_collected(const std::filesystem::path& log)
{
    return report::LogFile::open(log, report::LogFile::Collected::taken).collected();
}

// A program that runs on for days would fill the disk. A small log says nothing of that.
void tell_how_logs_grow(const report::Report& report)
{
    constexpr double kMuchAnHour = 1e8;
    constexpr std::uintmax_t kSmall = 4u << 20;
    double most = 0;
    for (const report::Process& process : report.processes) {
        std::error_code unknown;
        const std::uintmax_t bytes = std::filesystem::file_size(process.log, unknown);
        const double hours = static_cast<double>(process.duration_ns) / 3600e9;
        if (unknown || bytes < kSmall || hours <= 0 || is_collected(process.log))
            continue;
        most = std::max(most, static_cast<double>(bytes) / hours);
    }
    if (most > kMuchAnHour)
        say(fmt::format("the log grew by {} an hour; with --bounded 64MiB it stays small",
                        report::human_bytes(static_cast<std::uint64_t>(most))));
}

} // namespace

int tell_what_was_seen(const EndedRun& run, const Judgement& judgement, const RunOutputs& outputs)
{
    const std::vector<Announcement> announcements = run.file.read();
    const auto logs = stamp_logs(logs_of(announcements), run.process.pid, run.wait_status);
    const report::Options reading = reading_for(judgement, outputs);
    const report::Report report = read_what_was_seen(run, reading, announcements, logs);
    if (logs.empty()) {
        say("nothing was seen of the program:");
        if (WIFSIGNALED(run.wait_status))
            say(fmt::format("  it was killed by {}, perhaps before its first call of CUDA",
                            report::signal_name(WTERMSIG(run.wait_status))));
        for (const std::string& line : report.reasons)
            say("  " + line);
    } else {
        report::TextStyle style = style_for(STDERR_FILENO);
        style.logs_stay = outputs.logs_stay;
        report::write_summary(std::cerr, report, style);
        if (outputs.logs_stay)
            tell_how_logs_grow(report);
    }
    for (const std::filesystem::path& log : logs)
        outputs.keep_off(log); // each of several processes has another name
    std::optional<report::Check> check;
    if (judgement.budget)
        check = report::check(report, *judgement.budget);
    if (outputs.json.wanted())
        write_json_to(outputs.json, json_of(report, outputs.options.pool_blocks));
    if (outputs.html.wanted())
        write_page(outputs.html,
                   check ? report::page_of(*check, report, judgement.sources)
                         : report::page_of(report, "report", {}, judgement.sources),
                   outputs.options);
    if (!outputs.reduced.empty())
        write_tables(outputs.reduced, logs, report, reading, outputs.options.force);
    if (!check)
        return 0;
    outputs.ci_formats.write(*check, report);
    outputs.ci_formats.tell(std::cerr, *check, report, [&](std::ostream& text) {
        report::write_check_summary(text, *check, report, style_for(STDERR_FILENO));
    });
    return static_cast<int>(check->exit);
}

} // namespace vramscope
