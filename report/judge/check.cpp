// report/judge/check.cpp — each line of the budget measured in each process.
#include "report/judge/check.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "report/judge/ranks.hpp"
#include "report/judge/tests.hpp"
#include "report/judge/verdict.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostCulprits = 3;

struct Measure {
    double value = 0;
    double proven = 0; // the part of it that is sure, whatever else the log does not tell
    bool known = true;
    std::string remark; // why it is not known
};

// One line of a budget: how it is measured in one process, and what is to blame there.
struct Line {
    std::string budget;
    CheckUnit unit;
    double limit;
    std::function<Measure(std::size_t)> measure;
    std::function<void(std::size_t, std::vector<Culprit>&)> blame;
};

Measure as_seen(double value)
{
    return {value, value, true, {}};
}

template <typename Number>
double number(Number value)
{
    return static_cast<double>(value);
}

// By the process's own word; reasons_for_doubt() tells what a crash is.
bool failed(const Process& process)
{
    const ProcessEnd& end = process.end;
    return end.conclusive() && end.kind != ProcessEnd::Kind::replaced && end.status != 0;
}

class Checker {
public:
    Checker(const Report& report, const Budget& budget) : report_(report), budget_(budget) {}

    std::vector<CheckRow> rows()
    {
        add_leaks();
        add_growth();
        add_memory();
        add_findings();
        std::vector<CheckRow> rows;
        for (const Line& line : lines_)
            rows.push_back(judge(line));
        return rows;
    }

private:
    bool in_doubt(std::size_t process) const { return !report_.processes[process].doubts.empty(); }

    CheckRow judge(const Line& line) const
    {
        CheckRow row;
        row.budget = line.budget;
        row.unit = line.unit;
        row.limit = line.limit;
        for (std::size_t process = 0; process < report_.processes.size(); ++process) {
            const Measure found = line.measure(process);
            const bool doubt = in_doubt(process);
            const double sure = doubt ? found.proven : found.value;
            if (found.known && sure > line.limit)
                row.failed.push_back(process);
            else if (doubt || !found.known || failed(report_.processes[process]))
                row.state = CheckState::unknown;
            if (row.remark.empty() && !found.known)
                row.remark = found.remark;
            if (found.value > row.measured) {
                row.measured = found.value;
                row.process = process;
            }
        }
        if (!row.failed.empty()) {
            row.state = CheckState::failed;
            row.remark.clear();
        }
        if (row.measured > row.limit && line.blame) {
            line.blame(row.process, row.culprits);
            row.culprits.resize(std::min(row.culprits.size(), kMostCulprits));
        }
        return row;
    }

    // The rows of a list that belong to one process.
    template <typename Row, typename Read>
    static void blame(const std::vector<Row>& rows, std::size_t process,
                      std::vector<Culprit>& culprits, Read read)
    {
        for (const Row& row : rows)
            if (row.process == process)
                culprits.push_back(read(row));
    }

    static Culprit lost(const Leak& leak) { return {leak.bytes, leak.blocks, &leak}; }

    void add_leaks()
    {
        if (!budget_.max_leaked && !budget_.fails_on(Finding::leaks))
            return;
        lines_.push_back({"max-leaked", CheckUnit::bytes, number(budget_.max_leaked.value_or(0)),
                          [this](std::size_t process) { return leaked(process); },
                          [this](std::size_t process, auto& culprits) {
                              blame(report_.leaks, process, culprits, lost);
                          }});
        if (budget_.fails_on(Finding::leaks) && report_.totals.unclosed_imports > 0)
            lines_.push_back(
                {"unclosed-imports", CheckUnit::count, 0,
                 [this](std::size_t process) { return imports(report_.processes[process]); },
                 [this](std::size_t process, auto& culprits) {
                     blame(report_.imports, process, culprits, lost);
                 }});
    }

    // Of a process that did not come to its end, only what had gone with its context is a leak.
    Measure leaked(std::size_t process) const
    {
        const Process& found = report_.processes[process];
        double proven = 0;
        for (const Leak& leak : report_.leaks)
            if (leak.process == process && leak.kind == LeakKind::at_reset &&
                found.coverage.is_whole())
                proven += number(leak.bytes);
        const bool any = found.totals.leaked_blocks > 0;
        return {std::max(number(found.totals.leaked_bytes), any ? 1.0 : 0.0), proven, true, {}};
    }

    static Measure imports(const Process& process)
    {
        return {number(process.totals.unclosed_imports), 0, true, {}};
    }

    void add_growth()
    {
        if (!budget_.max_growth && !budget_.fails_on(Finding::growth))
            return;
        GrowthBudget budget = budget_.max_growth.value_or(GrowthBudget{});
        if (!budget_.max_growth && std::none_of(report_.growth.begin(), report_.growth.end(),
                                                [](const Growth& row) { return has_steps(row); }))
            budget.per = GrowthBudget::Per::call;
        const CheckUnit unit = budget.per == GrowthBudget::Per::second ? CheckUnit::bytes_per_second
                               : budget.per == GrowthBudget::Per::call ? CheckUnit::bytes_per_call
                                                                       : CheckUnit::bytes_per_step;
        lines_.push_back({budget_.max_growth ? "max-growth" : name(Finding::growth), unit,
                          budget.bytes,
                          [this, budget](std::size_t process) { return growth(process, budget); },
                          [this](std::size_t process, auto& culprits) {
                              blame(report_.growth, process, culprits, [](const Growth& row) {
                                  return Culprit{row.bytes, row.blocks, &row};
                              });
                          }});
    }

    static bool has_steps(const Growth& row) { return !row.rate.per.empty(); }

    // Of all stacks that grow, together. Where no steps were seen, a rate per step is not known.
    Measure growth(std::size_t process, const GrowthBudget& budget) const
    {
        Measure found;
        for (const Growth& row : report_.growth) {
            if (row.process != process)
                continue;
            const GrowthRate& rate = row.rate;
            found.value += budget.per == GrowthBudget::Per::second ? rate.bytes_per_second
                           : budget.per == GrowthBudget::Per::call ? rate.bytes_per_call
                                                                   : rate.bytes_per_step;
            if (budget.per == GrowthBudget::Per::step && !has_steps(row) && budget.bytes > 0 &&
                found.known) {
                found.known = false;
                found.remark =
                    "no steps were seen: give --max-growth per second or per call, or mark the "
                    "steps with NVTX";
            }
        }
        if (report_.processes[process].coverage.is_whole())
            found.proven = found.value;
        return found;
    }

    void add_memory()
    {
        if (budget_.max_peak)
            lines_.push_back({"max-peak", CheckUnit::bytes, number(*budget_.max_peak),
                              [this](std::size_t process) {
                                  return as_seen(number(peak_bytes(report_.processes[process])));
                              },
                              [this](std::size_t process, auto& culprits) {
                                  blame_peak(report_.processes[process], culprits);
                              }});
        if (budget_.max_reserved)
            add_number("max-reserved", CheckUnit::bytes, *budget_.max_reserved,
                       peak_reserved_bytes);
        if (budget_.max_fragmentation)
            lines_.push_back({"max-fragmentation",
                              CheckUnit::percent,
                              *budget_.max_fragmentation,
                              [this](std::size_t process) {
                                  return as_seen(100 * fragmentation(report_.processes[process]));
                              },
                              {}});
        if (budget_.max_driver_calls)
            add_number("max-driver-calls", CheckUnit::count, *budget_.max_driver_calls,
                       driver_calls);
    }

    static void blame_peak(const Process& process, std::vector<Culprit>& culprits)
    {
        if (const MemoryReport* const device = device_of_peak(process))
            for (const PeakStack& stack : device->peak.stacks)
                culprits.push_back({stack.bytes, stack.blocks, &stack});
    }

    void add_number(const char* budget, CheckUnit unit, std::uint64_t limit,
                    std::uint64_t (*read)(const Process&))
    {
        lines_.push_back({budget,
                          unit,
                          number(limit),
                          [this, read](std::size_t process) {
                              return as_seen(number(read(report_.processes[process])));
                          },
                          {}});
    }

    void add_findings()
    {
        add_finding(
            Finding::out_of_memory,
            [this](std::size_t process) {
                return as_seen(number(report_.processes[process].shortage_count));
            },
            [this](std::size_t process, auto& culprits) {
                blame(report_.shortages, process, culprits, [](const Shortage& row) {
                    return Culprit{row.requested, 1, &row};
                });
            });
        add_finding(
            Finding::misuse, [this](std::size_t process) { return misuse(process); },
            [this](std::size_t process, auto& culprits) {
                blame(report_.misuse, process, culprits, [](const Misuse& row) {
                    return Culprit{row.bytes, row.calls, &row.call};
                });
            });
        add_finding(
            Finding::damage,
            [this](std::size_t process) {
                double times = 0;
                for (const Damage& row : report_.damage)
                    times += row.process == process ? number(row.times) : 0;
                return as_seen(times);
            },
            [this](std::size_t process, auto& culprits) {
                blame(report_.damage, process, culprits, [](const Damage& row) {
                    return Culprit{row.block_bytes, row.times,
                                   row.allocation ? &*row.allocation : &row.noticed};
                });
            });
        add_finding(
            Finding::failed_calls,
            [this](std::size_t process) {
                double calls = 0;
                for (const FailedCall& row : report_.failed_calls)
                    calls += row.process == process ? number(row.calls) : 0;
                return as_seen(calls);
            },
            [this](std::size_t process, auto& culprits) {
                blame(report_.failed_calls, process, culprits, [](const FailedCall& row) {
                    return Culprit{row.bytes, row.calls, &row, row.least_bytes, row.most_bytes};
                });
            });
    }

    template <typename MeasureIn, typename Blame>
    void add_finding(Finding finding, MeasureIn measure, Blame blame)
    {
        if (budget_.fails_on(finding))
            lines_.push_back({name(finding), CheckUnit::count, 0, measure, blame});
    }

    // What events are missing for may be a wrong free, and may be none.
    Measure misuse(std::size_t process) const
    {
        Measure found;
        for (const Misuse& row : report_.misuse) {
            if (row.process != process)
                continue;
            found.value += number(row.calls);
            found.proven += row.kind == MisuseKind::unknown ? 0 : number(row.calls);
        }
        return found;
    }

    const Report& report_;
    const Budget& budget_;
    std::vector<Line> lines_;
};

// Perhaps before it came to where it would have leaked.
void add_failures(std::vector<std::string>& doubts, const Report& report)
{
    for (const Process& process : report.processes)
        if (failed(process))
            doubts.push_back(fmt::format(
                "{}the program failed: it {}",
                report.processes.size() > 1 ? fmt::format("process {}: ", process.pid) : "",
                describe(process.end)));
}

// A rank without a log may have died before its first CUDA call. A user that checks one log out of
// many means that log alone.
void add_missing_ranks(std::vector<std::string>& doubts, const Report& report)
{
    if (report.processes.size() < 2)
        return;
    const std::vector<std::uint32_t>& missing = report.ranks.missing;
    if (missing.empty())
        return;
    constexpr std::size_t kShown = 8;
    std::string names;
    for (std::size_t at = 0; at < std::min(kShown, missing.size()); ++at)
        names += fmt::format("{}{}", at == 0 ? "" : ", ", missing[at]);
    if (missing.size() > kShown)
        names += fmt::format(" and {} more", missing.size() - kShown);
    doubts.push_back(fmt::format("there is no log of rank {}", names));
}

} // namespace

Check check(const Report& report, const Budget& budget)
{
    Check check;
    check.rows = Checker(report, budget).rows();
    check_tests(check, report, budget);
    check.doubts = report.reasons;
    add_failures(check.doubts, report);
    add_missing_ranks(check.doubts, report);
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
