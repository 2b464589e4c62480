// tests/report/json/report_test.cpp — the JSON report: numbers, strings and schema.
//
// Two validators hold the report against its schema.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/text/views.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/schema_check.hpp"

namespace vramscope::report {
namespace {

using Json = nlohmann::json;
using test::LogBuilder;
using test::TempFile;

LogBuilder program()
{
    LogBuilder log;
    log.info("program", "train").info("driver.simulated", "1").info("unwinder", "libunwind");
    log.info("unknown_entry_point", "cuMemB").info("unknown_entry_point", "cuMemA@14000");
    log.device(0, 24ull << 30, "GPU").module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "id");
    log.stack(1, {0x401001, 0x409001})
        .place({.context = 1, .device = 0})
        .thread_name(4242, "train");
    log.at(2'000'000)
        .push("epoch")
        .alloc(0x1000, 3'000'000'007, 1)
        .alloc(0x2000, 1 << 20, 0)
        .free(0x2000)
        .mark("warm");
    return log;
}

std::string text_of(const LogBuilder& log)
{
    const TempFile file(log.build());
    std::ostringstream out;
    write_json(out, make_report({file.path()}), {.pool_blocks = true});
    return out.str();
}

int check(const std::string& text)
{
    return test::check_schema("report", text);
}

TEST(Json, HoldsExactNumbersAndHexOffsets)
{
    const Json report = Json::parse(text_of(program()));
    EXPECT_EQ(report["schema_version"], "1.6.0");
    EXPECT_EQ(report["verdict"], "leaks");
    EXPECT_EQ(report["totals"]["leaked_bytes"], 3'000'000'007u);
    ASSERT_EQ(report["leaks"].size(), 1u);
    const Json& leak = report["leaks"][0];
    EXPECT_EQ(leak["kind"], "leaked-at-exit");
    EXPECT_EQ(leak["bytes"], 3'000'000'007u);
    EXPECT_EQ(leak["blocks"], 1u);
    EXPECT_EQ(leak["api"], "cuMemAlloc");
    EXPECT_EQ(leak["entry_point"], "cuMemAlloc_v2");
    EXPECT_EQ(leak["device"], 0);
    EXPECT_EQ(leak["first_ns"], 1'001'000u);
    EXPECT_EQ(leak["phase"], "epoch");
    EXPECT_EQ(leak["threads"][0]["name"], "train");
    EXPECT_EQ(leak["stack"][0]["function"], nullptr);
    EXPECT_EQ(leak["stack"][0]["module"], "/gone/train");
    EXPECT_EQ(leak["stack"][0]["offset"], "0x1000");
    EXPECT_EQ(report["coverage"]["driver"]["simulated"], true);
    EXPECT_EQ(report["coverage"]["unwinder"], "libunwind");
    EXPECT_EQ(report["coverage"]["unknown_entry_points"],
              Json::parse(R"(["cuMemA@14000", "cuMemB"])"));
    EXPECT_FALSE(report["processes"][0]["info"].contains("unknown_entry_point"));
    EXPECT_EQ(report["processes"][0]["end"]["kind"], "exited");
}

TEST(Json, BeginsWithASummaryOfNumbers)
{
    LogBuilder log = program();
    log.out_of_memory({.device = 0, .requested = 5, .total = 9});
    const auto report = nlohmann::ordered_json::parse(text_of(log));
    EXPECT_EQ((++report.begin()).key(), "summary"); // behind schema_version
    const auto& summary = report["summary"];
    EXPECT_EQ(summary.begin().key(), "verdict");
    EXPECT_EQ(summary["verdict"], "leaks");
    EXPECT_EQ(summary["leaked_bytes"], 3'000'000'007u);
    EXPECT_EQ(summary["leaked_blocks"], 1);
    EXPECT_EQ(summary["peak_bytes"], 3'000'000'007u + (1u << 20));
    EXPECT_EQ(summary["allocations"], 2);
    EXPECT_EQ(summary["driver_calls"], 3);
    EXPECT_EQ(summary["out_of_memory"], 1);
    EXPECT_EQ(summary["wrong_frees"], 0);
    EXPECT_EQ(summary["lost_events"], 0);
}

TEST(Json, IsOneLineWhereItIsAskedFor)
{
    const TempFile file(program().build());
    const Report report = make_report({file.path()});
    std::ostringstream line;
    std::ostringstream lines;
    write_json(line, report, {.indented = false});
    write_json(lines, report);
    EXPECT_EQ(line.str().find('\n'), line.str().size() - 1);
    EXPECT_EQ(Json::parse(line.str()), Json::parse(lines.str()));
}

TEST(Json, ListsMarksOfTheProgramAndFromOutside)
{
    LogBuilder log = program();
    log.thread(1).thread_name(0, "vramscope mark").at(5'000'000).mark("epoch \x1b[2J 2");
    const std::string text = text_of(log);
    const Json process = Json::parse(text)["processes"][0];
    EXPECT_EQ(process["mark_count"], 2);
    EXPECT_EQ(process["marks"][0]["name"], "warm");
    EXPECT_EQ(process["marks"][0]["tid"], 4242);
    EXPECT_EQ(process["marks"][1]["ns"], 4'000'000);
    EXPECT_EQ(process["marks"][1]["name"], "epoch \x1b[2J 2");
    EXPECT_EQ(process["marks"][1]["tid"], nullptr);
    EXPECT_EQ(check(text), 0);
}

TEST(Json, PutsRanksSideBySide)
{
    LogBuilder one = program();
    one.info("rank", "1").info("world_size", "3").info("launcher", "torchrun");
    LogBuilder zero = program();
    zero.info("rank", "0").info("local_rank", "0").info("world_size", "3").alloc(0x9000, 10, 0);
    const TempFile first(one.build());
    const TempFile second(zero.build());
    std::ostringstream out;
    write_json(out, make_report({first.path(), second.path()}));
    const Json ranks = Json::parse(out.str())["ranks"];
    EXPECT_EQ(ranks["rows"][0]["rank"], 0);
    EXPECT_EQ(ranks["rows"][0]["process"], 1);
    EXPECT_EQ(ranks["rows"][0]["verdict"], "leaks");
    EXPECT_EQ(ranks["rows"][0]["launcher"], nullptr);
    EXPECT_EQ(ranks["rows"][1]["local_rank"], nullptr);
    EXPECT_EQ(ranks["rows"][1]["launcher"], "torchrun");
    EXPECT_EQ(ranks["missing"], Json::array({2}));
    ASSERT_EQ(ranks["leaks"].size(), 2u);
    EXPECT_EQ(ranks["leaks"][0]["on_all"], true);
    EXPECT_EQ(ranks["leaks"][0]["bytes"], 6'000'000'014u);
    EXPECT_EQ(ranks["leaks"][0]["processes"], Json::array({1, 0}));
    EXPECT_EQ(ranks["leaks"][1]["on_all"], false);
    EXPECT_EQ(ranks["leaks"][1]["processes"], Json::array({1}));
    EXPECT_EQ(check(out.str()), 0);
}

TEST(Json, StaysAsciiAndValidWhateverNamesHold)
{
    LogBuilder log = program();
    log.info("command", "\xff\xfe\x1b[2J \"quoted\" größe").info("env.x", std::string("a\0b", 3));
    const std::string text = text_of(log);
    for (const char c : text)
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << static_cast<int>(c);
    const std::string command = Json::parse(text)["processes"][0]["command"];
    EXPECT_NE(command.find("\"quoted\" größe"), std::string::npos);
    EXPECT_EQ(check(text), 0);
}

TEST(JsonSchema, HoldsForEveryKindOfReport)
{
    EXPECT_EQ(check(text_of(program())), 0);
    EXPECT_EQ(check(text_of(LogBuilder())), 0) << "nothing seen";
    LogBuilder crash = program();
    crash.header().waited = 1;
    crash.header().wait_status = 9;
    crash.header().start_real_ns = 1'700'000'000'000'000'000;
    EXPECT_EQ(check(text_of(crash)), 0);
    LogBuilder strange;
    strange.alloc(0, UINT64_MAX, 5).alloc(1, 1, 0, "cuMemAddressReserve").failed(2, 1).raw({0});
    strange.header().lost[0] = strange.header().lost[6] = strange.header().lost[7] = 1;
    EXPECT_EQ(check(text_of(strange)), 0);
}

TEST(JsonSchema, HoldsForMisuseImportsOwnersAndGraphs)
{
    LogBuilder log = program();
    log.failed(2, 4096).failed_free(0x7700000000).failed_free(0x2000, 1).shared(0x1000);
    log.alloc(0x8000, 64, 1, "cuIpcOpenMemHandle_v2").alloc(0x70, 0, 1, "cuMemPoolCreate");
    log.alloc(0x9000, 64, 1, "cuGraphAddMemAllocNode").trim(0x70, 0);
    const std::string text = text_of(log);
    EXPECT_EQ(check(text), 0);
    const Json report = Json::parse(text);
    EXPECT_EQ(report["leaks"][0]["shared_blocks"], 1);
    EXPECT_EQ(report["unclosed_imports"][0]["kind"], "unclosed-import");
    EXPECT_EQ(report["owners_not_destroyed"][0]["memory"], "pool");
    EXPECT_EQ(report["graph_memory"][0]["bytes"], 64);
    EXPECT_EQ(report["totals"]["graph_bytes"], 64);
    EXPECT_EQ(report["totals"]["unclosed_import_bytes"], 64);
    EXPECT_EQ(report["coverage"]["names_given"], 1);
    EXPECT_EQ(report["coverage"]["pool_trims"], 1);
    EXPECT_EQ(report["failed_calls"][0]["result_name"], "CUDA_ERROR_OUT_OF_MEMORY");
    const Json& misuse = report["misuse"];
    ASSERT_EQ(misuse.size(), 2u);
    EXPECT_EQ(misuse[0]["kind"], "never-allocated");
    EXPECT_EQ(misuse[0]["allocation"], nullptr);
    EXPECT_EQ(misuse[0]["bytes"], nullptr);
    EXPECT_EQ(misuse[1]["kind"], "double-free");
    EXPECT_EQ(misuse[1]["address"], "0x2000");
    EXPECT_EQ(misuse[1]["bytes"], 1 << 20);
    EXPECT_EQ(misuse[1]["call"]["stack"][0]["offset"], "0x1000");
}

LogBuilder pooled_program()
{
    LogBuilder log = program();
    log.info("pool.mode", "cache").info("pool.sync", "lazy").info("pool.limit", "8GiB").context(1);
    log.segment(0x100000, 1 << 20).pooled(0x100000, 1'000'000, 48'576, 1);
    log.segment(0x300000, 2 << 20).pooled(0x300000, 2 << 20, 0, 1).free(0x300000);
    log.damaged(format::Damage::overrun, 0x100000, 1'000'000, 4, 1).failed(2, 1 << 30);
    log.out_of_memory({.device = 0,
                       .requested = 1 << 30,
                       .free = 1 << 20,
                       .total = 8ull << 30,
                       .allocated = 1 << 20,
                       .reserved = 3 << 20,
                       .largest_gap = 2 << 20});
    return log;
}

TEST(JsonSchema, HoldsForAPoolAndItsShortagesAndDamages)
{
    const std::string text = text_of(pooled_program());
    EXPECT_EQ(check(text), 0);
    const Json report = Json::parse(text);
    const Json& pool = report["processes"][0]["pool"];
    EXPECT_EQ(pool["mode"], "cache");
    EXPECT_EQ(pool["settings"]["limit"], "8GiB");
    ASSERT_EQ(pool["devices"].size(), 1u);
    const Json& device = pool["devices"][0];
    const Json& stats = device["memory_stats"];
    EXPECT_EQ(stats["allocated_bytes.all.current"], 1 << 20);
    EXPECT_EQ(stats["allocated_bytes.all.peak"], 3 << 20);
    EXPECT_EQ(stats["requested_bytes.small_pool.current"], 1'000'000);
    EXPECT_EQ(stats["reserved_bytes.all.current"], 3 << 20);
    EXPECT_EQ(stats["active_bytes.large_pool.current"], 2 << 20);
    EXPECT_EQ(stats["allocation.all.freed"], 1);
    EXPECT_EQ(stats["num_ooms"], 1);
    EXPECT_EQ(device["at_peak"]["segments"].size(), 2u);
    const Json& segment = device["at_end"]["segments"][1];
    EXPECT_EQ(segment["segment_type"], "large");
    EXPECT_EQ(segment["address"], "0x300000");
    EXPECT_EQ(segment["allocated_size"], 0);
    EXPECT_EQ(segment["active_size"], 2 << 20);
    EXPECT_EQ(segment["blocks"][0]["state"], "active_pending_free");
    EXPECT_EQ(device["timeline"].back()["reserved_bytes"], 3 << 20);
    EXPECT_EQ(report["processes"][0]["out_of_memory_count"], 1);
    const Json& shortage = report["out_of_memory"][0];
    EXPECT_EQ(shortage["verdict"], "lacking");
    EXPECT_EQ(shortage["short_by"], (1 << 30) - (3 << 20));
    EXPECT_EQ(shortage["owners"][0]["bytes"], 3'001'000'007u);
    const Json& damage = report["damage"][0];
    EXPECT_EQ(damage["kind"], "overrun");
    EXPECT_EQ(damage["block_bytes"], 1'000'000);
    EXPECT_EQ(damage["allocation"]["entry_point"], "cuMemAlloc_v2");
    EXPECT_EQ(damage["freed"], nullptr);
}

TEST(Json, HasTheWaterfallThePeakAndTheTimelineOfEachDevice)
{
    LogBuilder log = program();
    log.device_memory(20ull << 30, 24ull << 30).alloc(0x5000, 500, 1);
    const Json report = Json::parse(text_of(log));
    ASSERT_EQ(report["processes"][0]["device_memory"].size(), 1u);
    const Json& device = report["processes"][0]["device_memory"][0];
    EXPECT_EQ(device["device"], 0);
    EXPECT_EQ(device["total_bytes"], 24ull << 30);
    EXPECT_EQ(device["free_at_end"], nullptr);
    EXPECT_EQ(device["at_peak"]["waterfall"]["device_used"], nullptr) << "it was asked later";
    const Json& end = device["at_end"]["waterfall"];
    EXPECT_EQ(end["requested"], 3'000'000'507u);
    EXPECT_EQ(end["direct"], end["reserved"]);
    EXPECT_EQ(end["unattributed"], (4ull << 30) - 3'000'000'007u);
    EXPECT_EQ(end["device_used"], (4ull << 30) + 500);
    EXPECT_EQ(device["at_marks"][0]["mark"], "warm");
    EXPECT_EQ(device["peak"]["phases"][0]["name"], "epoch");
    EXPECT_EQ(device["peak"]["stacks"][0]["bytes"], 3'000'000'007u);
    EXPECT_EQ(device["advice"][0]["kind"], "never-freed");
    EXPECT_TRUE(
        std::any_of(device["timeline"].begin(), device["timeline"].end(),
                    [](const Json& time) { return time["used_bytes"] == Json(4ull << 30); }));
}

TEST(Json, OfALogWithoutAPoolSaysThatReservedIsNotKnown)
{
    LogBuilder log = program();
    EXPECT_EQ(Json::parse(text_of(log))["processes"][0]["pool"], nullptr);
    log.info("pool.mode", "off").out_of_memory({.requested = 5, .total = 9});
    const std::string text = text_of(log);
    EXPECT_EQ(check(text), 0);
    const Json report = Json::parse(text);
    const Json& pool = report["processes"][0]["pool"];
    EXPECT_EQ(pool["mode"], "off");
    EXPECT_EQ(pool["known"], false);
    EXPECT_TRUE(pool["devices"].empty());
    EXPECT_EQ(report["out_of_memory"][0]["reserved_bytes"], nullptr);
    EXPECT_EQ(report["out_of_memory"][0]["allocated_bytes"], nullptr);
    EXPECT_EQ(report["out_of_memory"][0]["largest_gap"], nullptr);
}

// The check must be able to fail, and for each of these reasons alone.
TEST(Json, ThatIsBrokenIsRejected)
{
    struct Breakage {
        const char* what;
        void (*apply)(Json&);
    };
    const std::initializer_list<Breakage> breakages = {
        Breakage{"NoVerdict", [](Json& report) { report.erase("verdict"); }},
        Breakage{"UnknownVerdict", [](Json& report) { report["verdict"] = "fine"; }},
        Breakage{"InconclusiveWithoutReason",
                 [](Json& report) { report["verdict"] = "inconclusive"; }},
        Breakage{"NewMajorVersion", [](Json& report) { report["schema_version"] = "2.0.0"; }},
        Breakage{"BytesAsText", [](Json& report) { report["leaks"][0]["bytes"] = "3 GB"; }},
        Breakage{"NegativeBytes", [](Json& report) { report["totals"]["leaked_bytes"] = -1; }},
        Breakage{"UnknownKind", [](Json& report) { report["leaks"][0]["kind"] = "leak"; }},
        Breakage{"FrameWithoutLine",
                 [](Json& report) { report["leaks"][0]["stack"][0].erase("line"); }},
        Breakage{"OffsetAsNumber",
                 [](Json& report) { report["leaks"][0]["stack"][0]["offset"] = 4096; }},
        Breakage{"UnknownStatistic",
                 [](Json& report) {
                     Json& pool = report["processes"][0]["pool"];
                     pool["devices"][0]["memory_stats"]["allocated_bytes.all.now"] = 1;
                 }},
        Breakage{"UnknownBlockState",
                 [](Json& report) {
                     Json& device = report["processes"][0]["pool"]["devices"][0];
                     device["at_end"]["segments"][0]["blocks"][0]["state"] = "free";
                 }},
        Breakage{"UndocumentedMember", [](Json& report) { report["leaks"][0]["color"] = "red"; }}};
    const Json right = Json::parse(text_of(pooled_program()));
    std::string broken;
    for (const Breakage& breakage : breakages) {
        Json report = right;
        breakage.apply(report);
        broken += report.dump() + '\n';
    }
    EXPECT_EQ(test::invalid_lines("report", right.dump() + '\n' + broken), breakages.size());
}

} // namespace
} // namespace vramscope::report
