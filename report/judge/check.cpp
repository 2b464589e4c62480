// report/judge/check.cpp — each line of the budget measured in each process.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/judge/finding_kinds.hpp"
#include "report/judge/judge.hpp"
#include "report/judge/process_numbers.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostCulprits = 3;

struct Measure {
    double value = 0;
    double proven = 0;  // the part of it that is sure, whatever else the log does not tell
    std::string remark; // why it is not known; empty: it is
};

using Measures = std::vector<Measure>; // of each process

template <typename Number>
double number(Number value)
{
    return static_cast<double>(value);
}

// The processes that are over the limit, that with the most first.
std::vector<std::size_t> over(double limit, const Measures& measures)
{
    std::vector<std::size_t> processes;
    for (std::size_t process = 0; process < measures.size(); ++process)
        if (measures[process].value > limit)
            processes.push_back(process);
    std::stable_sort(processes.begin(), processes.end(), [&](std::size_t a, std::size_t b) {
        return measures[b].value < measures[a].value;
    });
    return processes;
}

// The largest of each process, then the second largest of each. Ranks have the same code: a place
// that another has, too, is told once.
void tell_culprits(CheckRow& row, const std::vector<std::vector<Culprit>>& processes)
{
    std::size_t most = 0;
    for (const std::vector<Culprit>& rows : processes)
        most = std::max(most, rows.size());
    std::map<std::string, std::size_t> told; // the place, and the process that it is told of
    for (std::size_t at = 0; at < most; ++at)
        for (const std::vector<Culprit>& rows : processes) {
            if (at >= rows.size() ||
                told.try_emplace(rows[at].place->key(), rows[at].process).first->second !=
                    rows[at].process)
                continue;
            if (row.culprits.size() < kMostCulprits)
                row.culprits.push_back(rows[at]);
            else
                ++row.more_culprits;
        }
}

// Places may grow by steps of several names, or by calls: per step of the process's.
double bytes_per_step(const GrowthRate& rate, const Process& process)
{
    if (process.step_count == 0 || rate.steps == 0)
        return rate.bytes_per_step;
    return rate.bytes_per_step * number(rate.steps) / number(watched_steps(process.step_count));
}

double amount_of(const FoundRow& row, const Process& process, CheckUnit unit)
{
    switch (unit) {
    case CheckUnit::bytes_per_step:
        return bytes_per_step(*row.rate, process);
    case CheckUnit::bytes_per_call:
        return row.rate->bytes_per_call;
    case CheckUnit::bytes_per_second:
        return row.rate->bytes_per_second;
    case CheckUnit::bytes:
        return number(row.culprit.bytes);
    default:
        return number(row.culprit.count);
    }
}

// Where no steps were seen, a rate per step is not known.
const char* why_unknown(const FoundRow& row, const BudgetLine& line)
{
    return line.unit == CheckUnit::bytes_per_step && line.limit > 0 && row.rate->per.empty()
               ? "no steps were seen: give --max-growth per second or per call, or mark the steps "
                 "with NVTX"
               : "";
}

class Checker {
public:
    Checker(const Report& report, const Budget& budget) : report_(report), budget_(budget) {}

    // In the order of the options: --fail-on, which names kinds without an option, is the last.
    std::vector<CheckRow> rows()
    {
        for (const FindingKind& kind : kFindingKinds)
            if (kind.line)
                add(kind, kind.line(report_, budget_, fails_on(budget_, kind)));
        for (const ProcessNumber& asked : kProcessNumbers)
            add(asked);
        for (const FindingKind& kind : kFindingKinds)
            if (!kind.line && fails_on(budget_, kind))
                add(kind, BudgetLine{kind.word, CheckUnit::count, 0});
        add_rules();
        return std::move(rows_);
    }

private:
    void add(const FindingKind& kind, const std::optional<BudgetLine>& line)
    {
        if (!line)
            return;
        const std::vector<FoundRow> found = kind.rows(report_);
        CheckRow row;
        row.finding = kind.finding;
        std::vector<std::vector<Culprit>> culprits(report_.processes.size());
        for (const FoundRow& one : found)
            culprits[one.process].push_back(one.culprit);
        judge(row, *line, kind.called, measure(kind, found, *line),
              [&](std::size_t process) { return culprits[process]; });
        rows_.push_back(std::move(row));
    }

    // All rows of a process count together; but of rates per call, which are of calls at different
    // places, the highest counts.
    Measures measure(const FindingKind& kind, const std::vector<FoundRow>& found,
                     const BudgetLine& line) const
    {
        Measures measures(report_.processes.size());
        for (const FoundRow& row : found) {
            Measure& sum = measures[row.process];
            const double amount = amount_of(row, report_.processes[row.process], line.unit);
            const double proven = row.proven ? amount : 0;
            const bool adds_up = line.unit != CheckUnit::bytes_per_call;
            sum.value = adds_up ? sum.value + amount : std::max(sum.value, amount);
            sum.proven = adds_up ? sum.proven + proven : std::max(sum.proven, proven);
            if (sum.remark.empty())
                sum.remark = why_unknown(row, line);
        }
        if (kind.whole)
            for (std::size_t process = 0; process < measures.size(); ++process)
                measures[process].value = number(kind.whole(report_.processes[process]));
        return measures;
    }

    void add(const ProcessNumber& asked)
    {
        const std::optional<double> most = asked.limit(budget_);
        if (!most)
            return;
        Measures measures;
        for (const Process& process : report_.processes) {
            const double value = asked.read(process);
            const bool is_over = value > *most; // what else there may be makes no difference
            measures.push_back({value, asked.is_sure ? value : 0,
                                asked.unknown && !is_over ? asked.unknown(process) : ""});
        }
        CheckRow row;
        judge(row, {asked.budget, asked.unit, *most}, asked.called, measures,
              [&](std::size_t process) {
                  return asked.culprits ? asked.culprits(report_, process) : std::vector<Culprit>{};
              });
        rows_.push_back(std::move(row));
    }

    // Each process holds the same rules, in the same order; one of several may have no step of
    // those that a rule speaks of.
    void add_rules()
    {
        const std::size_t rules = report_.processes.empty() ? 0 : report_.processes[0].rules.size();
        for (std::size_t rule = 0; rule < rules; ++rule) {
            Measures measures;
            bool applied = false;
            for (const Process& process : report_.processes) {
                const RuleOutcome& outcome = process.rules[rule];
                const double value = number(outcome.measured);
                measures.push_back({value, process.coverage.is_whole() ? value : 0, {}});
                applied = applied || outcome.never.empty();
                if (!outcome.unknown.empty())
                    measures.back().remark = about(outcome, outcome.unknown);
            }
            add_rule(rule, measures, applied);
        }
    }

    void add_rule(std::size_t rule, Measures& measures, bool applied)
    {
        const RuleOutcome& first = report_.processes[0].rules[rule];
        if (!applied && !budget_.allow_unapplied)
            measures[0].remark = about(first, "never applied: " + first.never);
        CheckRow row;
        row.rule = first.name;
        const bool is_named = first.name.find(' ') == std::string::npos; // else by its own words
        const std::string called = (is_named ? "rule " : "") + first.name;
        judge(row,
              {"rules", first.of_bytes ? CheckUnit::bytes : CheckUnit::count, number(first.limit)},
              called.c_str(), measures, [&](std::size_t process) {
                  std::vector<Culprit> culprits;
                  for (const RuleCall& call : report_.processes[process].rules[rule].calls)
                      culprits.push_back({call.bytes, call.count, &call.place});
                  return culprits;
              });
        rows_.push_back(std::move(row));
    }

    static std::string about(const RuleOutcome& outcome, std::string_view what)
    {
        return fmt::format("rule {}: {}", outcome.name, what);
    }

    bool in_doubt(std::size_t process) const { return !report_.processes[process].doubts.empty(); }

    // What failed is told by those that failed, however much others may have.
    static bool tells(const CheckRow& row, std::size_t process)
    {
        return row.failed.empty() ||
               std::binary_search(row.failed.begin(), row.failed.end(), process);
    }

    // culprits_in(process): the largest first.
    template <typename CulpritsIn>
    void judge(CheckRow& row, const BudgetLine& line, const char* called, const Measures& measures,
               const CulpritsIn& culprits_in) const
    {
        row.budget = line.budget;
        row.called = called;
        row.unit = line.unit;
        row.limit = line.limit;
        for (std::size_t process = 0; process < measures.size(); ++process) {
            const Measure& found = measures[process];
            const bool known = found.remark.empty();
            const bool doubt = in_doubt(process);
            const double sure = doubt ? found.proven : found.value;
            if (known && sure > line.limit)
                row.failed.push_back(process);
            else if (doubt || !known || has_failed(report_.processes[process]))
                row.state = CheckState::unknown;
            if (row.remark.empty())
                row.remark = found.remark;
        }
        for (std::size_t process = 0; process < measures.size(); ++process)
            if (measures[process].value > row.measured && tells(row, process)) {
                row.measured = measures[process].value;
                row.process = process;
            }
        if (row.unit == CheckUnit::bytes_per_step && row.measured > 0 &&
            report_.processes[row.process].has_steps())
            row.step = step_word(report_.processes[row.process].step_name);
        if (!row.failed.empty()) {
            row.state = CheckState::failed;
            row.remark.clear();
        }
        std::vector<std::vector<Culprit>> culprits;
        for (const std::size_t process : over(line.limit, measures)) {
            if (!tells(row, process))
                continue;
            culprits.push_back(culprits_in(process));
            for (Culprit& culprit : culprits.back())
                culprit.process = process;
        }
        tell_culprits(row, culprits);
    }

    const Report& report_;
    const Budget& budget_;
    std::vector<CheckRow> rows_;
};

} // namespace

Check check(const Report& report, const Budget& budget)
{
    Check check;
    check.rows = Checker(report, budget).rows();
    check_tests(check, report, budget);
    check.doubts = doubts_of_run(report);
    const auto any = [&](CheckState state) {
        return std::any_of(check.rows.begin(), check.rows.end(),
                           [&](const CheckRow& row) { return row.state == state; });
    };
    for (const CheckRow& row : check.rows)
        if (!row.remark.empty())
            check.doubts.push_back(row.remark);
    if (any(CheckState::failed) || check.failed_tests > 0) {
        check.verdict = Check::Verdict::failed;
        check.exit = Exit::findings;
    } else if (saw_nothing(report)) {
        check.verdict = Check::Verdict::nothing_observed;
        check.exit = Exit::nothing_observed;
    } else if (!check.doubts.empty() || any(CheckState::unknown)) {
        check.verdict = Check::Verdict::inconclusive;
        check.exit = Exit::incomplete;
    } else {
        check.verdict = Check::Verdict::passed;
        check.exit = Exit::ok;
    }
    if (check.exit != Exit::findings && budget.allow_inconclusive)
        check.exit = Exit::ok;
    return check;
}

} // namespace vramscope::report
