// report/text/ranks.cpp — one table, one list of differences.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/words/rank_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeastRankWidth = 80;
constexpr std::size_t kShownLeaks = 10;
constexpr std::size_t kSummaryRows = 5;

class RanksWriter {
public:
    RanksWriter(std::ostream& out, const Report& report, const TextStyle& style)
        : out_(out), report_(report), ranks_(report.ranks), choice_(style.rows),
          width_(std::max(style.width, kLeastRankWidth)),
          of_ranks_(std::any_of(ranks_.rows.begin(), ranks_.rows.end(),
                                [](const RankRow& row) { return row.rank.has_value(); }))
    {
    }

    void table()
    {
        std::size_t program_columns = 7;
        for (const Process& process : report_.processes)
            program_columns = std::max(program_columns, columns(program_of(process)));
        const auto row = [&](std::string_view rank, std::string_view pid, std::string_view program,
                             std::string_view verdict, std::string_view peak, std::string_view left,
                             std::string_view blocks) {
            out_ << fmt::format("{}{:>8}  {}{}  {:<13} {:>14} {:>10} {:>9}\n",
                                of_ranks_ ? fmt::format("{:>5} ", rank) : "", pid, program,
                                std::string(program_columns - columns(program), ' '), verdict, peak,
                                left, blocks);
        };
        out_ << '\n';
        row("Rank", "Process", "Program", "Verdict", "Peak requested", "Not freed", "Blocks");
        for (const RankRow& each : ranks_.rows) {
            const Process& process = report_.processes[each.process];
            row(each.rank ? std::to_string(*each.rank) : "-", std::to_string(process.pid),
                program_of(process), verdict_of(each),
                human_bytes(process.totals.peak_device_bytes),
                human_bytes(process.totals.leaked_bytes), grouped(process.totals.leaked_blocks));
        }
    }

    // `usual`: how many of them, where no number was asked for.
    void differences(std::string_view prefix, std::size_t usual)
    {
        const auto call_of = [&](const SharedLeak& row) -> const Leak& {
            return report_.leaks[row.leaks.front()];
        };
        const ChosenRows<SharedLeak> chosen = choose(ranks_.leaks, choice_, usual, call_of);
        std::vector<ShownRow> compared;
        for (std::size_t at = 0;
             at < std::min(std::max(kComparedRows, chosen.shown), chosen.rows.size()); ++at)
            compared.push_back({&call_of(*chosen.rows[at])});
        const RowHeadlines headlines(compared, report_);
        for (std::size_t at = 0; at < chosen.shown; ++at)
            difference(prefix, *chosen.rows[at],
                       [&](std::size_t room) { return headlines.in(at, room); });
        if (chosen.more > 0)
            out_ << prefix << "  " << chosen.rest() << '\n';
    }

private:
    std::string program_of(const Process& process) const
    {
        const std::string program =
            terminal_safe(process.program.empty() ? "(not recorded)" : process.program);
        return shorten_path(program, width_ / 4);
    }

    // One that leaks nothing may have run out of memory.
    std::string_view verdict_of(const RankRow& row) const
    {
        const auto is_of_it = [&row](const Headline& one) {
            return one.is_finding() && std::find(one.processes.begin(), one.processes.end(),
                                                 row.process) != one.processes.end();
        };
        const bool found =
            std::any_of(report_.headlines.begin(), report_.headlines.end(), is_of_it);
        return row.verdict == Verdict::clean && found ? "with findings" : name(row.verdict);
    }

    // The rank that has it comes first: that is what differs.
    // `headline`: what tells it from the others, in so many columns.
    template <typename Headline>
    void difference(std::string_view prefix, const SharedLeak& shared, Headline headline)
    {
        const Leak& leak = report_.leaks[shared.leaks.front()];
        const std::string head =
            fmt::format("{}  {}, {}  {}  ", prefix, shared_words(report_, shared),
                        counted(shared.blocks, "block"), terminal_safe(leak.api));
        const std::string where =
            headline(std::max<std::size_t>(width_, columns(head) + 30) - columns(head));
        if (columns(head) + columns(where) <= width_)
            out_ << head << where << '\n';
        else
            out_ << head.substr(0, head.find_last_not_of(' ') + 1) << '\n'
                 << prefix << "      " << where << '\n';
    }

    std::ostream& out_;
    const Report& report_;
    const Ranks& ranks_;
    const RowChoice& choice_;
    std::size_t width_;
    bool of_ranks_;
};

} // namespace

std::string shared_words(const Report& report, const SharedLeak& shared)
{
    const std::string sums =
        shared.rows.size() == 1 ? human_bytes(shared.most_bytes)
        : shared.least_bytes == shared.most_bytes
            ? human_bytes(shared.most_bytes) + " each"
            : human_bytes(shared.least_bytes) + " to " + human_bytes(shared.most_bytes);
    return part_of_job(report, shared.processes) + ": " + sums;
}

void write_ranks(std::ostream& out, const Report& report, const TextStyle& style)
{
    if (report.processes.size() < 2)
        return;
    RanksWriter writer(out, report, style);
    writer.table();
    if (!report.ranks.leaks.empty())
        out << "\nNot freed, by call stack:\n";
    writer.differences("", kShownLeaks);
}

void write_ranks_summary(std::ostream& out, const Report& report, const TextStyle& style,
                         std::string_view prefix)
{
    RanksWriter(out, report, style).differences(prefix, kSummaryRows);
}

} // namespace vramscope::report
