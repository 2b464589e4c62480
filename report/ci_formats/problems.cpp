// report/ci_formats/problems.cpp — all that was found, and what is over its budget.
#include "report/ci_formats/problems.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "report/findings/places/fingerprint.hpp"
#include "report/judge/finding_kinds.hpp"
#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/reach_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kFrameColumns = 160; // of a name in a message: some have thousands
constexpr std::size_t kReachColumns = 320; // of what holds a leak, there

class Collector {
public:
    Collector(const Check& check, const Report& report, const SourcePaths& paths)
        : check_(check), report_(report), paths_(paths)
    {
    }

    std::vector<Problem> collect()
    {
        for (const TestCheck& row : check_.test_rows)
            add_test(row);
        for (const CheckRow& row : check_.rows)
            add_row(row);
        row_ = nullptr;
        for (const FindingKind& kind : kFindingKinds)
            if (!has_row(kind.finding))
                add_rows(kind);
        for (auto& [problem, groups] : reach_)
            tell_reach(problems_[problem], groups);
        for (Problem& problem : problems_)
            describe(problem);
        std::stable_sort(
            problems_.begin(), problems_.end(),
            [](const Problem& a, const Problem& b) { return a.severity > b.severity; });
        return std::move(problems_);
    }

private:
    void add_row(const CheckRow& row)
    {
        row_ = &row;
        if (row.finding)
            add_rows(kind_of(*row.finding));
        else if (row.state != CheckState::ok)
            add_budget(row);
    }

    bool has_row(Finding finding) const
    {
        return std::any_of(check_.rows.begin(), check_.rows.end(),
                           [&](const CheckRow& row) { return row.finding == finding; });
    }

    void add_rows(const FindingKind& kind)
    {
        const ProblemRule& rule = rule_of(kind.word);
        for (FoundRow& found : kind.rows(report_))
            add(rule, std::move(found));
    }

    // What no line of the budget speaks of fails nothing, and is told.
    Severity severity_in(std::size_t process) const
    {
        if (!row_)
            return Severity::note;
        if (std::binary_search(row_->failed.begin(), row_->failed.end(), process))
            return Severity::error;
        const bool in_doubt = !report_.processes[process].doubts.empty();
        return in_doubt || row_->state == CheckState::unknown ? Severity::warning : Severity::note;
    }

    void add(const ProblemRule& rule, FoundRow found)
    {
        const Culprit& culprit = found.culprit;
        const auto [entry, is_new] =
            known_.try_emplace(rule.id + culprit.place->key() + found.detail, problems_.size());
        if (is_new) {
            Problem problem;
            problem.rule = &rule;
            problem.place = culprit.place;
            problem.detail = std::move(found.detail);
            problems_.push_back(std::move(problem));
        }
        Problem& problem = problems_[entry->second];
        problem.severity = std::max(problem.severity, severity_in(found.process));
        problem.bytes += culprit.bytes;
        problem.count += culprit.count;
        if (found.reach)
            for (const ReachGroup& group : *found.reach)
                add_group(reach_[entry->second], group);
        const auto at =
            std::lower_bound(problem.processes.begin(), problem.processes.end(), found.process);
        if (at == problem.processes.end() || *at != found.process)
            problem.processes.insert(at, found.process);
    }

    // A number of the whole process: those that made up most of it are named, the first as its
    // place.
    void add_budget(const CheckRow& row)
    {
        Problem problem;
        problem.rule = &rule_of(row.budget);
        problem.severity = row.state == CheckState::failed ? Severity::error : Severity::warning;
        problem.processes = row.failed.empty() ? std::vector{row.process} : row.failed;
        problem.message = row_words(row) + failed_where(row, report_);
        if (!row.culprits.empty())
            problem.place = row.culprits.front().place;
        problems_.push_back(std::move(problem));
    }

    // A name comes out of the program: some have thousands of characters.
    void add_test(const TestCheck& row)
    {
        const TestRow& test = report_.processes[row.process].tests[row.test];
        Problem problem;
        problem.rule = &rule_of("test");
        problem.severity = row.state == CheckState::failed ? Severity::error : Severity::warning;
        problem.processes = {row.process};
        problem.test = test.name;
        problem.test_row = &row;
        problem.message =
            fmt::format("test {}: {}", shorten_path(terminal_safe(test.name), kFrameColumns),
                        test_words(row, test));
        if (!row.breaches.empty())
            problem.bytes = row.breaches.front().measured;
        if (!row.breaches.empty() && !row.breaches.front().culprits.empty()) {
            problem.place = row.breaches.front().culprits.front().place;
            problem.message += "; " + called(*problem.place);
        }
        problem.message += in_processes(problem);
        problems_.push_back(std::move(problem));
    }

    static std::string in_short(const std::string& reach)
    {
        return columns(reach) > kReachColumns ? cut_at_end(reach, kReachColumns) : reach;
    }

    static void tell_reach(Problem& problem, std::vector<ReachGroup>& groups)
    {
        const std::size_t more = list_largest(groups);
        for (const ReachGroup& group : groups)
            problem.reach.push_back(reach_sentence(group));
        if (more > 0)
            problem.reach.push_back("and " + counted(more, "other holder"));
    }

    void describe(Problem& problem)
    {
        if (problem.rule->amount)
            problem.message =
                fmt::format("{}: {}, {}{}{}", problem.rule->amount(problem.bytes, problem.count),
                            called(*problem.place), problem.detail, in_processes(problem),
                            problem.reach.empty() ? "" : "; " + in_short(problem.reach.front()));
        problem.where = problem.place ? paths_.of(*problem.place) : SourcePlace{};
        if (problem.where.path.empty() && !report_.processes.empty())
            problem.where = paths_.of_file(report_.processes[problem.processes.front()].program, 0);
        name_it(problem);
    }

    static std::string called(const CallPlace& place)
    {
        const std::string api = place.api.empty() ? "memory" : terminal_safe(place.api);
        const Frame* const frame = place.own_frame();
        return frame ? api + " in " + frame_in(*frame, kFrameColumns) : api;
    }

    std::string in_processes(const Problem& problem) const
    {
        if (report_.processes.size() < 2)
            return {};
        if (problem.processes.size() == 1)
            return ", in " + process_name(report_, problem.processes.front());
        return fmt::format(", in {} of {} processes", problem.processes.size(),
                           report_.processes.size());
    }

    // Stacks that differ in the lines of callers alone have one fingerprint: numbers tell them
    // apart. A test is known by its name, wherever it leaks.
    void name_it(Problem& problem)
    {
        const std::string name = !problem.test.empty() ? fingerprint(problem.test, {})
                                 : problem.place && !problem.place->fingerprint.empty()
                                     ? problem.place->fingerprint
                                     : "0000000000000000";
        const std::size_t nth = ++named_[problem.rule->id + name];
        problem.fingerprint = nth == 1 ? name : fmt::format("{}-{}", name, nth);
    }

    const Check& check_;
    const Report& report_;
    const SourcePaths& paths_;
    const CheckRow* row_ = nullptr; // null: no line of the budget speaks of what is added
    std::vector<Problem> problems_;
    std::unordered_map<std::string, std::size_t> known_; // rule and stack: which of them it is
    std::map<std::string, std::size_t> named_;
    std::map<std::size_t, std::vector<ReachGroup>> reach_; // by the index of the problem
};

} // namespace

std::vector<Problem> find_problems(const Check& check, const Report& report,
                                   const SourcePaths& paths)
{
    return Collector(check, report, paths).collect();
}

std::vector<std::string> doubts_of(const Check& check)
{
    std::vector<std::string> doubts;
    for (const std::string& doubt : check.doubts)
        doubts.push_back(terminal_safe(doubt));
    if (doubts.empty() && check.verdict == Check::Verdict::nothing_observed)
        doubts.emplace_back("no CUDA memory call was seen");
    return doubts;
}

const char* name(Severity severity) noexcept
{
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::warning:
        return "warning";
    case Severity::error:
        break;
    }
    return "error";
}

} // namespace vramscope::report
