// report/page/tests.cpp — see tests.hpp.
#include "report/page/tests.hpp"

#include "report/words/check_words.hpp"

namespace vramscope::report {

Json page_tests(const Process& process, PageTables& tables)
{
    return tables.rows_of(process.tests, "tests", [&](const TestRow& test) -> Json {
        const Json leaks = tables.rows_of(test.leaks, "leaks of a test", [&](const TestLeak& leak) {
            return tables.with_call({{"bytes", leak.bytes},
                                     {"blocks", leak.blocks},
                                     {"memory", tables.text(name(leak.memory))}},
                                    leak);
        });
        return {{"name", tables.text(test.name)},
                {"result", tables.text(name(test.state))},
                {"begin_ns", test.begin_ns},
                {"end_ns", test.end_ns},
                {"allocations", test.allocations},
                {"peak", test_peak(test)},
                {"growth", test_growth(test)},
                {"leaked_bytes", test.leaked_bytes},
                {"leaked_blocks", test.leaked_blocks},
                {"later_bytes", freed_later(test)},
                {"leaks", leaks}};
    });
}

Json page_check(const Check& check, PageTables& tables)
{
    return {{"verdict", name(check.verdict)},
            {"rows", tables.rows_of(check.rows, "budgets",
                                    [&](const CheckRow& row) -> Json {
                                        return {{"budget", tables.text(row.called)},
                                                {"measured",
                                                 tables.text(amount_in(row.measured, row.unit))},
                                                {"limit", tables.text(limit_words(row))},
                                                {"state", tables.text(name(row.state))}};
                                    })},
            {"doubts", tables.rows_of(check.doubts, "doubts",
                                      [&](const std::string& text) -> Json {
                                          return {{"text", tables.text(text)}};
                                      })},
            {"failed_tests", check.failed_tests},
            {"unknown_tests", check.unknown_tests},
            {"tests", tables.rows_of(check.test_rows, "tests over their budgets",
                                     [&](const TestCheck& row) -> Json {
                                         return {{"process", row.process},
                                                 {"test", row.test},
                                                 {"state", tables.text(name(row.state))}};
                                     })}};
}

} // namespace vramscope::report
