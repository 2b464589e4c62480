// report/findings/memory/program_tests.cpp — what a test left, by what a reader sees of a place.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

class TestRows {
public:
    TestRows(const Sites& sites, const LeakSource& source) : sites_(sites), source_(source) {}

    TestRow row(const LoggedTest& test)
    {
        TestRow row;
        row.name = test.name;
        row.state = test.state;
        row.begin_ns = source_.clock.ns(test.begin_ticks);
        row.end_ns = source_.clock.ns(test.end_ticks);
        row.allocations = test.allocations;
        row.peaks = test.peaks;
        row.held_bytes = test.held.bytes;
        row.held_blocks = test.held.blocks;
        add_leaks(row, test);
        return row;
    }

private:
    void add_leaks(TestRow& row, const LoggedTest& test)
    {
        std::map<std::string, TestLeak> leaks; // keyed by place: equal input, equal order
        for (const auto& [site, holding] : test.holdings) {
            TestLeak leak = place_of_site(sites_[site]);
            const bool known = leak.suppression.has_value();
            (known ? row.suppressed_bytes : row.leaked_bytes) += holding.bytes;
            (known ? row.suppressed_blocks : row.leaked_blocks) += holding.blocks;
            if (known)
                continue;
            const std::string key = std::string(1, static_cast<char>(leak.memory)) +
                                    std::to_string(leak.device) + '\0' + leak.key();
            TestLeak& sum = leaks.try_emplace(key, leak).first->second;
            sum.merge(leak);
            sum.bytes += holding.bytes;
            sum.blocks += holding.blocks;
        }
        for (auto& [key, leak] : leaks)
            row.leaks.push_back(std::move(leak));
        std::stable_sort(row.leaks.begin(), row.leaks.end(),
                         [](const TestLeak& a, const TestLeak& b) {
                             return std::tie(b.bytes, b.blocks) < std::tie(a.bytes, a.blocks);
                         });
        row.leaks.resize(std::min(row.leaks.size(), kMostTestLeaks));
    }

    TestLeak place_of_site(const Site& site) const
    {
        TestLeak leak;
        static_cast<CallPlace&>(leak) = source_.stacks.read(site.api, site.stack, site.first_ticks);
        leak.memory = site.memory;
        leak.device = site.device;
        return leak;
    }

    const Sites& sites_;
    const LeakSource& source_;
};

} // namespace

std::vector<TestRow> find_tests(const Tests& tests, const Sites& sites, const LeakSource& source)
{
    TestRows rows(sites, source);
    std::vector<TestRow> found;
    found.reserve(tests.kept().size());
    for (const LoggedTest& test : tests.kept())
        found.push_back(rows.row(test));
    return found;
}

} // namespace vramscope::report
