// report/findings/make_report.cpp — one process per log, then the sums and the verdict.
#include "report/findings/make_report.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/log_report.hpp"
#include "report/judge/judge.hpp"

namespace vramscope::report {

namespace {

// `cut`: by a time, before which the program may not have come to its first call.
void sum_up(Report& report, bool cut)
{
    for (const Process& process : report.processes) {
        report.totals += process.totals;
        report.coverage += process.coverage;
    }
    if (saw_memory_call(report) || cut)
        return;
    report.reasons.push_back(
        "no CUDA memory call was seen: `vramscope doctor` tells why that can be");
}

} // namespace

Report make_report(const std::vector<std::filesystem::path>& logs, const Options& options)
{
    Report report;
    std::optional<Symbolizer> own;
    Symbolizer& symbolizer =
        options.symbolizer ? *options.symbolizer : own.emplace(options.symbols);
    LogReport one_log(report, options, symbolizer, logs.size());
    for (const std::filesystem::path& log : logs) {
        one_log.read(log);
        if (report.interrupted)
            break;
    }
    report.sort();
    suppress(report, options.suppressions);
    count_leaks(report);
    sort_by_speed(report.growth);
    add_findings_to_sites(report);
    sum_up(report, options.until_ns.has_value());
    report.ranks = compare_ranks(report);
    if (std::string doubt = doubt_of_ranks(report); !doubt.empty())
        report.reasons.push_back(std::move(doubt));
    if (report.reasons.empty())
        report.verdict = report.totals.leaks() ? Verdict::leaks : Verdict::clean;
    report.headlines = headlines_of(report);
    report.unread_files = symbolizer.unread_files();
    if (std::string notice = no_lines_notice(report); !notice.empty())
        report.notices.push_back(std::move(notice));
    if (std::string notice = several_jobs_notice(report); !notice.empty())
        report.notices.push_back(std::move(notice));
    report.sysroot = options.symbols.sysroot.string();
    for (const PathMap& map : options.symbols.path_maps)
        report.path_maps.push_back(map.from.string() + "=" + map.to.string());
    report.fold = options.symbols.fold;
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
