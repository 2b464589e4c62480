// report/text/job.cpp — a line for each finding, in the order in which they matter.
#include "report/model/job.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/views.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/job_words.hpp"
#include "report/words/rank_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostLines = 40; // of a job's findings, unless all are wanted
constexpr std::size_t kMostOfKind = 10;

class JobWriter {
public:
    JobWriter(std::ostream& stream, const Job& job, const TextStyle& style, bool all)
        : out_(stream, style), job_(job), all_(all)
    {
    }

    void write()
    {
        headline();
        for (const std::string& file : job_.unread)
            line("  not read: " + terminal_safe(file));
        if (!job_.missing.empty())
            line(fmt::format("  missing: {} {}", job_.noun(job_.missing.size()),
                             number_ranges(job_.missing)));
        ends(true);
        for (const JobHeadline& one : job_.headlines)
            out_.wrapped("  ", subject(one.ranks) + ": ", headline_words(job_, one));
        ends(false);
        outsiders();
        findings();
        headroom();
        if (all_)
            table();
    }

private:
    void headline()
    {
        const std::string title = title_of(job_);
        const char* const color = job_.verdict == Verdict::inconclusive ? kYellow
                                  : title == "Clean"                    ? kGreen
                                                                        : kRed;
        const std::string standings = standings_of(job_);
        const std::size_t count = job_.processes.size();
        out_.wrapped("", out_.painted(capitals(title), color) + ": ",
                     fmt::format("{} {}{} of {}{}, {}{}{}", grouped(count), job_.noun(count),
                                 of_processes(),
                                 job_.program.empty() ? "a program" : terminal_safe(job_.program),
                                 job_.name.empty() ? "" : ", job " + terminal_safe(job_.name),
                                 counted(job_.places, "call place"), standings.empty() ? "" : "; ",
                                 standings));
        for (const std::string& reason : job_.reasons)
            line("  " + terminal_safe(reason));
    }

    // " (8 processes)", where ranks have several.
    std::string of_processes() const
    {
        std::size_t count = 0;
        for (const JobProcess& process : job_.processes)
            count += 1 + process.other_logs.size();
        return count == job_.processes.size() ? ""
                                              : fmt::format(" ({})", counted(count, "process"));
    }

    // Which was the first is told among those that ended by their own fault, where there are
    // others: what was killed may have waited for them since long.
    void ends(bool by_own_fault)
    {
        std::size_t ended = 0;
        for (const JobEnd& end : job_.ends)
            ended += end.by_own_fault() ? end.ranks.size() : 0;
        for (const JobEnd& end : job_.ends) {
            if (end.by_own_fault() != by_own_fault)
                continue;
            std::string text =
                fmt::format("  {}: {}", subject(end.ranks), terminal_safe(end.words));
            if (&end == &job_.ends.front() && by_own_fault && ended > 1)
                text += end.ranks.size() == 1
                            ? ", the first"
                            : fmt::format(", {} {} the first", job_.noun(1), end.first);
            line(text);
        }
    }

    void outsiders()
    {
        constexpr std::size_t kMost = 3;
        const std::size_t told =
            all_ ? job_.without_rank.size() : std::min(kMost, job_.without_rank.size());
        for (std::size_t at = 0; at < told; ++at)
            out_.wrapped("", "  ", outsider_words(job_.without_rank[at]));
        if (const std::size_t more = job_.without_rank.size() - told; more > 0)
            line(fmt::format("  ... and {} more without a rank: --all", counted(more, "process")));
    }

    void findings()
    {
        std::size_t lines = 0;
        std::size_t of_kind = 0;
        std::size_t left_out = 0;
        JobFindingKind kind = JobFindingKind::alone;
        for (const JobFinding& finding : job_.findings) {
            of_kind = finding.kind == kind ? of_kind + 1 : 1;
            kind = finding.kind;
            if (!all_ && (of_kind > kMostOfKind || lines >= kMostLines)) {
                ++left_out;
                continue;
            }
            ++lines;
            write(finding);
        }
        if (left_out > 0)
            line(fmt::format("  ... and {}: --all", counted(left_out, "more finding")));
    }

    void write(const JobFinding& finding)
    {
        const std::string head =
            fmt::format("  {}: {}", subject(finding.ranks), values_of(finding));
        if (finding.of_whole_peaks)
            return line(head);
        constexpr std::size_t kLeastRoom = 32; // else the file and its line would be cut away
        const std::string place = " at ";
        const std::string behind = "     at ";
        const std::size_t room = out_.room_behind(columns(head) + columns(place));
        if (room >= kLeastRoom)
            return line(head + place + innermost_in(finding, room));
        line(head);
        line(behind + innermost_in(finding, out_.room_behind(columns(behind))));
    }

    void headroom()
    {
        if (job_.headroom.empty())
            return;
        std::string text;
        for (const JobHeadroom& row : job_.headroom)
            text +=
                fmt::format("{}{} {}, {} of {}", text.empty() ? "" : "; ", job_.noun(1), row.rank,
                            human_bytes(row.free_bytes()), human_bytes(row.total_bytes));
        line("  least headroom: " + text);
        if (job_.runs_out_first)
            line("  runs out first: " + run_out_words(job_));
    }

    void table()
    {
        out_.stream() << fmt::format("\n{:>9}  {:<12} {:>14} {:>10}  {}\n", job_.noun(1), "verdict",
                                     "peak requested", "not freed", "log");
        for (const JobProcess& process : job_.processes)
            line(fmt::format("{:>9}  {:<12} {:>14} {:>10}  {}", process.number,
                             name(process.verdict), human_bytes(process.peak_device_bytes),
                             human_bytes(process.leaked_bytes), terminal_safe(logs_of(process))));
    }

    static std::string logs_of(const JobProcess& process)
    {
        std::string logs = process.log;
        for (const std::string& log : process.other_logs)
            logs += ", " + log;
        return logs;
    }

    std::string subject(const std::vector<std::uint32_t>& numbers) const
    {
        return part_of_job(job_, numbers);
    }

    void line(const std::string& text) { out_.stream() << text << '\n'; }

    TextOutput out_;
    const Job& job_;
    const bool all_;
};

} // namespace

void write_job(std::ostream& out, const Job& job, const TextStyle& style, bool all)
{
    JobWriter(out, job, style, all).write();
}

} // namespace vramscope::report
