// report/judge/program_tests.cpp — what is over a budget, and whether the log proves it.
#include <algorithm>

#include "report/judge/finding_kinds.hpp"
#include "report/judge/judge.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostTestCulprits = 3;

// At least one byte where anything leaked: a budget of none allows no empty block either.
std::uint64_t leaked_by(const TestRow& test)
{
    return std::max<std::uint64_t>(test.leaked_bytes, test.leaked_blocks > 0 ? 1 : 0);
}

class TestJudge {
public:
    TestJudge(const Report& report, const Budget& budget) : report_(report), budget_(budget) {}

    // Its state is `ok` where there is nothing to tell.
    TestCheck judge(std::size_t process, std::size_t at) const
    {
        const Process& of = report_.processes[process];
        const TestRow& test = of.tests[at];
        TestCheck check{process, at, CheckState::ok, {}};
        const bool told = test.ended() && test.state != TestState::failed;
        if (!told || !of.coverage.is_whole())
            check.state = CheckState::unknown;
        if (budget_.max_leaked || fails_on(budget_, kind_of(Finding::leaks)))
            hold(check, "max-leaked", leaked_by(test), budget_.max_leaked.value_or(0),
                 of.doubts.empty());
        if (budget_.max_peak)
            hold(check, "max-peak", test_peak(test), *budget_.max_peak, true);
        if (!check.breaches.empty() && check.breaches.front().budget == "max-leaked")
            for (const TestLeak& leak : test.leaks)
                if (check.breaches.front().culprits.size() < kMostTestCulprits)
                    check.breaches.front().culprits.push_back(
                        {leak.bytes, leak.blocks, &leak, 0, 0, process});
        return check;
    }

    bool is_worth_a_row(const TestCheck& check) const
    {
        return check.state == CheckState::failed || !check.breaches.empty() ||
               !report_.processes[check.process].tests[check.test].ended();
    }

private:
    static void hold(TestCheck& check, const char* budget, std::uint64_t measured,
                     std::uint64_t limit, bool sure)
    {
        if (measured <= limit)
            return;
        if (sure)
            check.state = CheckState::failed;
        else if (check.state == CheckState::ok)
            check.state = CheckState::unknown;
        check.breaches.push_back({budget, limit, measured, {}});
    }

    const Report& report_;
    const Budget& budget_;
};

std::uint64_t worst_of(const TestCheck& check)
{
    return check.breaches.empty() ? 0 : check.breaches.front().measured;
}

} // namespace

void check_tests(Check& check, const Report& report, const Budget& budget)
{
    const TestJudge judge(report, budget);
    for (std::size_t process = 0; process < report.processes.size(); ++process) {
        const std::size_t tests = report.processes[process].tests.size();
        check.tests += tests;
        for (std::size_t test = 0; test < tests; ++test) {
            TestCheck found = judge.judge(process, test);
            check.failed_tests += found.state == CheckState::failed ? 1 : 0;
            check.unknown_tests += found.state == CheckState::unknown ? 1 : 0;
            if (judge.is_worth_a_row(found))
                check.test_rows.push_back(std::move(found));
        }
    }
    std::stable_sort(check.test_rows.begin(), check.test_rows.end(),
                     [](const TestCheck& a, const TestCheck& b) {
                         const bool a_failed = a.state == CheckState::failed;
                         const bool b_failed = b.state == CheckState::failed;
                         return a_failed != b_failed ? a_failed : worst_of(a) > worst_of(b);
                     });
}

} // namespace vramscope::report
