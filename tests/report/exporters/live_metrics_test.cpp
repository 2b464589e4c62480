// tests/report/exporters/live_metrics_test.cpp — samples are told apart, and no name leaves its label.
#include "report/exporters/live_metrics.hpp"

#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

LiveMetrics program(std::uint32_t pid, std::string rank)
{
    LiveMetrics one;
    one.state.pid = pid;
    one.state.program = "a\"b\\c}\n";
    one.state.rank = std::move(rank);
    one.state.allocations = 3;
    one.state.devices.push_back({.ordinal = 0, .uuid = "GPU-1", .blocks = 2});
    return one;
}

// What stands before the value, of each sample; fails where two are the same.
std::set<std::string> samples(const std::string& text)
{
    std::set<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#'))
            continue;
        const std::string sample = line.substr(0, line.rfind(' '));
        EXPECT_TRUE(sample.ends_with('}')) << line;
        EXPECT_TRUE(found.insert(sample).second) << line;
    }
    return found;
}

TEST(LiveMetricsText, NamesAreLabelsWhateverIsInThem)
{
    EXPECT_TRUE(samples(live_metrics({program(7, "")}))
                    .contains("vramscope_running{program=\"a\\\"b\\\\c}\\\\x0a\",pid=\"7\"}"));
}

TEST(LiveMetricsText, TwoProgramsOfOneRankAreTwo)
{
    const auto found = samples(live_metrics({program(7, "1"), program(8, "1"), program(9, "2")}));
    EXPECT_TRUE(found.contains("vramscope_blocks{program=\"a\\\"b\\\\c}\\\\x0a\",rank=\"1\",pid="
                               "\"8\",gpu=\"0\",UUID=\"GPU-1\"}"));
}

TEST(LiveMetricsText, OfWhatEndedThereAreCountersAlone)
{
    LiveMetrics one = program(7, "");
    one.runs = false;
    const std::string text = live_metrics({one});
    EXPECT_NE(text.find("vramscope_allocations_total{"), std::string::npos);
    EXPECT_EQ(text.find("vramscope_blocks{"), std::string::npos);
    EXPECT_EQ(text.find("vramscope_growth_bytes_per_second{"), std::string::npos);
}

TEST(LiveMetricsText, TenCallStacksThatGrowAreToldTheFastestFirst)
{
    LiveMetrics one = program(7, "");
    for (int row = 0; row < 12; ++row) {
        Growth growth;
        growth.fingerprint = std::to_string(row);
        growth.rate.bytes_per_second = 100.0 - row;
        one.state.growing.push_back(growth);
    }
    const std::string text = live_metrics({one});
    samples(text);
    EXPECT_NE(text.find("fingerprint=\"9\""), std::string::npos);
    EXPECT_EQ(text.find("fingerprint=\"10\""), std::string::npos);
    EXPECT_NE(
        text.find(
            "vramscope_growth_bytes_per_second{program=\"a\\\"b\\\\c}\\\\x0a\",pid=\"7\"} 1134\n"),
        std::string::npos);
}

} // namespace
} // namespace vramscope::report
