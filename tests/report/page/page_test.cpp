// tests/report/page/page_test.cpp — one file, nothing of a log in its markup, never too large.
//
// What is drawn of it is tested in a browser, by tests/page.
#include "report/page/page.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

using Json = nlohmann::json;

constexpr const char* kHostile = "</script><script>alert(1)</script><!-- \"'&\xff\u202e";

Report report_of(std::size_t leaks, const std::string& name)
{
    Report report;
    report.verdict = Verdict::leaks;
    Process process;
    process.program = name;
    process.memory.emplace_back();
    report.processes.push_back(process);
    for (std::size_t at = 0; at < leaks; ++at) {
        Leak leak;
        leak.bytes = leaks - at;
        leak.api = "cudaMalloc";
        Frame& frame = leak.stack.emplace_back();
        frame.function = name + std::to_string(at);
        frame.file = name;
        report.leaks.push_back(leak);
    }
    return report;
}

// What the page's script gets.
Json data_of(const std::string& page)
{
    const std::string before = R"(<script type="application/json" id="data">)";
    const std::size_t begin = page.find(before) + before.size();
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

class Page : public testing::Test {
protected:
    void SetUp() override
    {
        if (!can_write_pages())
            GTEST_SKIP() << "built without node";
    }
};

TEST_F(Page, ShowsHostileNamesAsText)
{
    const std::string plain = page_of(report_of(1, "train"), "report");
    const std::string page = page_of(report_of(1, kHostile), "report");
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    const auto count = [](const std::string& text, const std::string& part) {
        std::size_t times = 0;
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
            ++times;
        return times;
    };
    EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
    EXPECT_EQ(count(page, "<!--"), count(plain, "<!--"));
    const Json data = data_of(page);
    const std::string shown = data["strings"][data["frames"]["function"][0].get<std::size_t>()];
    EXPECT_NE(shown.find("</script><script>alert(1)</script>"), std::string::npos);
    EXPECT_EQ(shown.find("\u202e"), std::string::npos) << "marks of direction are to be seen";
}

TEST_F(Page, IsOfADocumentThatRunsOnlyItsOwnScript)
{
    const std::string page = page_of(report_of(1, "train"), "report");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
    EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
    for (const char* const other : {"src=\"http", "href=\"http", "@import", "url(http"})
        EXPECT_EQ(page.find(other), std::string::npos) << other;
}

TEST_F(Page, SaysWhatItLeavesOut)
{
    const Json data = data_of(page_of(report_of(2500, "f"), "report"));
    EXPECT_EQ(data["leaks"]["bytes"].size(), 2000u);
    EXPECT_EQ(data["leaks"]["bytes"][0], 2500);
    EXPECT_EQ(data["leak_count"], 2500);
    EXPECT_NE(data["thinned"].dump().find("2,000 of 2,500 call stacks that leak"),
              std::string::npos);
}

TEST_F(Page, StaysBelowItsLimitForAnyLog)
{
    Report report = report_of(20'000, std::string(10'000, 'x'));
    for (std::size_t at = 0; at < 300; ++at) {
        Process process;
        process.memory.emplace_back().fine_timeline.resize(4096);
        for (std::size_t time = 0; time < 4096; ++time)
            process.memory[0].fine_timeline[time].ns = time << 32;
        report.processes.push_back(process);
    }
    EXPECT_LE(page_of(report, "report").size(), kMostPageBytes);
}

} // namespace
} // namespace vramscope::report
