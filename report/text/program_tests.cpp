// report/text/program_tests.cpp — the tests of a program, the worst first.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownTests = 10;

struct TestSums {
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
    std::uint64_t skipped = 0;
    std::uint64_t unfinished = 0;
    std::uint64_t leaking = 0;
    std::uint64_t leaked_bytes = 0;
};

TestSums sum_of_tests(const Report& report)
{
    TestSums sums;
    for (const Process& process : report.processes) {
        sums.count += process.test_count;
        for (const TestRow& test : process.tests) {
            sums.failed += test.state == TestState::failed ? 1 : 0;
            sums.skipped += test.state == TestState::skipped ? 1 : 0;
            sums.unfinished += test.ended() ? 0 : 1;
            sums.leaking += test.leaked_blocks > 0 ? 1 : 0;
            sums.leaked_bytes += test.leaked_bytes;
        }
    }
    return sums;
}

std::string in_words(const TestSums& sums)
{
    std::string text = grouped(sums.count) + " ran";
    const std::pair<std::uint64_t, const char*> parts[] = {
        {sums.failed, "failed"}, {sums.skipped, "skipped"}, {sums.unfinished, "did not end"}};
    for (const auto& [count, what] : parts)
        if (count > 0)
            text += fmt::format(", {} {}", grouped(count), what);
    if (sums.leaking == 0)
        return text + "; none left anything";
    return text + fmt::format("; {} left {} that nobody freed", counted(sums.leaking, "test"),
                              human_bytes(sums.leaked_bytes));
}

std::vector<const TestRow*> worst_tests(const Report& report)
{
    std::vector<const TestRow*> rows;
    for (const Process& process : report.processes)
        for (const TestRow& test : process.tests)
            rows.push_back(&test);
    const auto rank = [](const TestRow* row) {
        return std::tuple(row->leaked_bytes, row->leaked_blocks, !row->ended(), row->held_bytes,
                          test_growth(*row));
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const TestRow* a, const TestRow* b) { return rank(b) < rank(a); });
    return rows;
}

void write_test(TextOutput& out, const TestRow& test)
{
    const std::string head =
        fmt::format("  {:>10} {:>11} {:>10} {:>10}  ", human_bytes(test.leaked_bytes),
                    human_bytes(freed_later(test)), human_bytes(test_peak(test)),
                    human_bytes(test_growth(test)));
    const std::string state = test.state == TestState::failed ? " (failed)"
                              : test.ended()                  ? ""
                                                              : " (did not end)";
    out.stream() << head << terminal_safe(test.name) << state << '\n';
    if (!test.leaks.empty())
        out.line(fmt::format("{:>12} in {}  {}  ", human_bytes(test.leaks.front().bytes),
                             counted(test.leaks.front().blocks, "block"),
                             terminal_safe(test.leaks.front().api)),
                 test.leaks.front());
}

} // namespace

void write_tests(TextOutput& out, const Report& report)
{
    const std::vector<const TestRow*> rows = worst_tests(report);
    if (rows.empty())
        return;
    out.stream() << '\n'
                 << out.painted("Tests", "1") << ": " << in_words(sum_of_tests(report)) << '\n'
                 << fmt::format("  {:>10} {:>11} {:>10} {:>10}\n", "leaked", "freed later", "peak",
                                "of its own");
    const std::size_t shown = std::min(rows.size(), kShownTests);
    for (std::size_t at = 0; at < shown; ++at)
        write_test(out, *rows[at]);
    if (shown < rows.size())
        out.stream() << "  ... and " << counted(rows.size() - shown, "more test")
                     << "; --json has all\n";
}

void write_tests_summary(TextOutput& out, const Report& report, std::string_view prefix)
{
    if (const TestSums sums = sum_of_tests(report); sums.count > 0)
        out.stream() << prefix << "tests: " << in_words(sums) << '\n';
}

} // namespace vramscope::report
