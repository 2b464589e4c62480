// tests/report/page/page_test.cpp — one file, nothing of a log in its markup, never too large.
//
// What is drawn of it is tested in a browser, by tests/oracle/page_test.py.
#include "report/page/page.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/model/job.hpp"
#include "report/model/plan/plan.hpp"
#include "report/model/report.hpp"
#include "tests/support/unpacked.hpp"

namespace vramscope::report {
namespace {

using Json = Unpacker::Json;

constexpr const char* kHostile = "</script><script>alert(1)</script><!-- \"'&\xff\u202e";

SharedFrames one_frame(const std::string& function)
{
    return {Frame{.function = function, .file = {}, .module = {}}};
}

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
        leak.stack = {Frame{.function = name + std::to_string(at), .file = name, .module = {}}};
        report.leaks.push_back(leak);
    }
    return report;
}

// What the page's script gets, and has back from it.
Json data_of(const std::string& page)
{
    const std::string before = R"(<script type="application/json" id="data">)";
    const std::size_t begin = page.find(before) + before.size();
    return Unpacker(Json::parse(page.substr(begin, page.find("</script>", begin) - begin))).all();
}

class Page : public testing::Test {
protected:
    void SetUp() override
    {
        if (!why_no_pages().empty())
            GTEST_SKIP() << why_no_pages();
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
    const std::string shown = data["report"]["leaks"][0]["stack"][0]["function"];
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
    const Json& leaks = data["report"]["leaks"];
    EXPECT_EQ(leaks.size(), 2000u);
    EXPECT_EQ(leaks[0]["bytes"], 2500);
    EXPECT_NE(data["thinned"].dump().find("2,000 of 2,500 rows of leaks"), std::string::npos);
}

Plan plan_of(const std::string& name, std::size_t holders)
{
    Plan plan;
    plan.verdict = PlanVerdict::does_not_fit;
    plan.cards = {64};
    PlanProcess& process = plan.processes.emplace_back();
    process.program = name;
    PlanDevice& device = process.devices.emplace_back();
    PlanPolicy& judged = device.policies.emplace_back();
    judged.name = "cache";
    judged.smallest_card = 100;
    judged.cards = {{.bytes = 64, .shortage = PlanShortage{}}};
    PlanPolicy other = judged;
    other.name = "torch";
    other.smallest_card = 80;
    device.policies.push_back(other);
    for (std::size_t at = 0; at < holders; ++at) {
        PlanHolder& holder = device.holders.emplace_back();
        holder.bytes = holders - at;
        std::vector<Frame> stack(20);
        for (std::size_t depth = 0; depth < stack.size(); ++depth)
            stack[depth].function = name + std::to_string(at * 20 + depth);
        holder.stack = std::move(stack);
    }
    return plan;
}

TEST_F(Page, OfAPlanHasItsAnswer)
{
    const Json plan = data_of(page_of(plan_of("train", 1)))["plan"];
    EXPECT_EQ(plan["verdict"], "does-not-fit");
    const Json answer = {{"process", 0},     {"device", 0},        {"best", 1},
                         {"best_card", 80},  {"lower_process", 0}, {"lower", 0},
                         {"needs", "100 B"}, {"helps", true},      {"saved", 20},
                         {"missing", 16}};
    EXPECT_EQ(plan["answer"], answer);
    const Json card = plan["processes"][0]["devices"][0]["policies"][0]["cards"][0];
    EXPECT_EQ(card["bytes"], 64);
    EXPECT_EQ(card["first_shortage"]["why"], "64 B are free, but the largest piece has 64 B");
    EXPECT_EQ(data_of(page_of(Plan()))["plan"]["answer"], nullptr);
}

TEST_F(Page, OfAPlanIsNeverTooLargeAndShowsHostileNamesAsText)
{
    const std::string page = page_of(plan_of(kHostile + std::string(800, 'x'), 1500));
    EXPECT_LE(page.size(), kMostPageBytes);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_NE(data_of(page)["thinned"].dump().find("of 1,500 rows of holders"), std::string::npos);
}

Job job_of(std::size_t ranks, const std::string& name)
{
    Job job;
    job.program = name;
    JobFinding& finding = job.findings.emplace_back();
    finding.stack = one_frame(name);
    finding.leaked_bytes = 4096;
    finding.leaked_differs = true;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        JobProcess& process = job.processes.emplace_back();
        process.number = rank;
        process.log = name + std::to_string(rank);
        process.end = "was killed by signal 9 (SIGKILL)";
        if (rank % 2 == 0)
            finding.ranks.push_back(rank);
    }
    job.ends.push_back({.words = job.processes[0].end, .crashed = true, .ranks = {0, 1, 2}});
    job.headlines.push_back({.kind = HeadlineKind::misuse,
                             .title = "Wrong frees",
                             .ranks = {0, 2},
                             .sentence = "Wrong frees: " + name,
                             .differs = true});
    job.missing = {static_cast<std::uint32_t>(ranks)};
    return job;
}

TEST_F(Page, OfAJobHasAllOfItsRanksAndWhatIsSaidOfThem)
{
    const Json job = data_of(page_of(job_of(5000, "train")))["job"];
    EXPECT_EQ(job["processes"].size(), 5000u);
    EXPECT_EQ(job["findings"][0]["subject"], "2,500 of 5,000 ranks (0-4998:2)");
    EXPECT_EQ(job["findings"][0]["values"], "leaked 4 KiB on average");
    EXPECT_EQ(job["ends"][0]["subject"], "3 of 5,000 ranks (0-2)");
    EXPECT_EQ(job["headlines"][0]["subject"], "2 of 5,000 ranks (0, 2)");
    EXPECT_EQ(job["headlines"][0]["words"], "Wrong frees; rank 0: train");
    EXPECT_EQ(job["title"], "Inconclusive");
    EXPECT_EQ(job["standings"], "5,000 inconclusive");
    EXPECT_EQ(job["missing_words"], "5000");
}

TEST_F(Page, OfAJobIsNeverTooLargeAndShowsHostileNamesAsText)
{
    const std::string page = page_of(job_of(6000, kHostile + std::string(800, 'x')));
    EXPECT_LE(page.size(), kMostPageBytes);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

// 64 moments of 512 call stacks each.
Compositions large_compositions()
{
    Compositions all;
    for (std::size_t stack = 0; stack < 512; ++stack) {
        ComposingStack& place = all.stacks.emplace_back();
        place.stack = one_frame("f" + std::to_string(stack));
    }
    for (std::size_t at = 0; at < 64; ++at) {
        Composition& moment = all.moments.emplace_back();
        moment.from_ns = moment.ns = at << 40;
        moment.bytes = (at % 7) << 40;
        for (std::size_t stack = 0; stack < 512; ++stack)
            moment.parts.push_back({stack, (512 - stack) << 30, 1000});
    }
    return all;
}

PoolMap large_map()
{
    PoolMap map;
    SegmentPieces segment;
    segment.address = 0x7f0000000000;
    segment.bytes = 5000ull << 30;
    for (std::uint32_t at = 0; at < 5000; ++at)
        segment.blocks.push_back({.address = at,
                                  .bytes = 1ull << 30,
                                  .state = BlockState::active_allocated,
                                  .owner = at % 1000});
    map.segments.push_back(segment);
    map.owners.resize(1000);
    return map;
}

TEST_F(Page, StaysBelowItsLimitForAnyLog)
{
    Report report = report_of(20'000, std::string(10'000, 'x'));
    for (std::size_t at = 0; at < 300; ++at) {
        Process process;
        process.memory.emplace_back().fine_timeline.resize(4096);
        for (std::size_t time = 0; time < 4096; ++time)
            process.memory[0].fine_timeline[time].ns = time << 32;
        if (at < 8) {
            process.memory[0].compositions = large_compositions();
            process.pool.devices.emplace_back();
            process.pool.devices[0].at_peak = process.pool.devices[0].at_end = large_map();
            process.tests.resize(3000);
            process.test_count = 3000;
        }
        report.processes.push_back(std::move(process));
    }
    EXPECT_LE(page_of(report, "report").size(), kMostPageBytes);
}

TEST_F(Page, HasFewerMomentsRatherThanFewerThanSomeCallStacks)
{
    Report report = report_of(1, "train");
    report.processes[0].memory[0].compositions = large_compositions();
    const Json one = data_of(page_of(report, "report"))["drawn"][0][0]["compositions"];
    EXPECT_EQ(one["moments"].size(), 64u);
    EXPECT_EQ(one["stacks"].size(), 512u);
    EXPECT_EQ(one["left_out"], 0);
    for (std::size_t at = 0; at < 128; ++at)
        report.processes.emplace_back().memory.emplace_back();
    const Json few = data_of(page_of(report, "report"))["drawn"][0][0]["compositions"];
    const std::size_t moments = few["moments"].size();
    EXPECT_GE(few["stacks"].size(), 16u);
    EXPECT_EQ(few["stacks"].size() + few["left_out"].get<std::size_t>(), 512u);
    ASSERT_GE(moments, 8u);
    for (std::size_t at = 0; at < moments; ++at)
        EXPECT_GE(few["moments"][at]["bytes"], 4ull << 40) << "the highest of its neighbours";
}

// All that came in the first of these moments, and did not leave in the last one.
std::uint64_t lived_on(const Json& lives)
{
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < lives["born"].size(); ++at) {
        if (lives["born"][at] == 0 && lives["left"][at] > 0)
            bytes += lives["bytes"][at].get<std::uint64_t>();
    }
    return bytes;
}

TEST_F(Page, SumsUpLivesWithTheMomentsThatBecomeOne)
{
    Report report = report_of(1, "train");
    Compositions& all = report.processes[0].memory[0].compositions;
    all = large_compositions();
    all.lives = {{0, 1, 1, 10}, {0, 63, 1, 20}, {5, SpanLife::kAlive, 1, 40}};
    all.stacks[0].lives = all.lives;
    for (Composition& moment : all.moments)
        moment.sizes.assign(65, 1);
    const Json one = data_of(page_of(report, "report"))["drawn"][0][0]["compositions"];
    EXPECT_EQ(one["lives"]["left"], Json({1, 63, 64})) << "64: alive at the end";
    EXPECT_EQ(one["stacks"][0]["lives"], one["lives"]);
    EXPECT_EQ(lived_on(one["lives"]), 30);
    EXPECT_EQ(one["moments"][0]["size_blocks"].size(), 65u);
    for (std::size_t at = 0; at < 256; ++at)
        report.processes.emplace_back().memory.emplace_back();
    const Json few = data_of(page_of(report, "report"))["drawn"][0][0]["compositions"];
    const std::size_t moments = few["moments"].size();
    ASSERT_EQ(moments, 7u) << "of ten spans each";
    EXPECT_EQ(few["lives"]["left"], Json({0, 6, 7}));
    EXPECT_EQ(lived_on(few["lives"]), 60);
    EXPECT_EQ(few["moments"][0]["size_blocks"][0], 10);
}

TEST_F(Page, TellsOfTheLargestStacksWhenTheirBlocksCameAndLeft)
{
    Report report = report_of(1, "train");
    Compositions& all = report.processes[0].memory[0].compositions;
    all = large_compositions();
    for (ComposingStack& stack : all.stacks)
        for (std::uint32_t at = 0; at < 200; ++at)
            stack.lives.push_back({at % 64, at % 64, 1, 1});
    const Json stacks = data_of(page_of(report, "report"))["drawn"][0][0]["compositions"]["stacks"];
    EXPECT_FALSE(stacks[0]["lives"].is_null());
    EXPECT_TRUE(stacks[511]["lives"].is_null());
}

TEST_F(Page, HasTheNamesOfTestsAndOwnersAsText)
{
    Report report = report_of(1, "train");
    Process& process = report.processes[0];
    process.tests.emplace_back().name = kHostile;
    process.test_count = 1;
    process.tests[0].leaks.emplace_back().stack = one_frame(kHostile);
    process.pool.devices.emplace_back();
    process.pool.devices[0].at_end = large_map();
    process.pool.devices[0].at_end.owners[0].stack = one_frame(kHostile);
    const std::string page = page_of(report, "report");
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    const Json data = data_of(page);
    const std::string name = data["report"]["processes"][0]["tests"][0]["name"];
    EXPECT_EQ(name.find("\u202e"), std::string::npos);
    EXPECT_EQ(data["drawn"][0][0]["maps"][1]["owners"].size(), 1000u);
}

} // namespace
} // namespace vramscope::report
