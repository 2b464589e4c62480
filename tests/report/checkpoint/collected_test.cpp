// tests/report/checkpoint/collected_test.cpp — a log that was collected again and again tells what
// the whole log does.
//
// Random programs are written twice: as one log, and as one that grows and is collected meanwhile,
// down to nothing but its checkpoint and the chunks that are open. The report of the first is the
// oracle. A failure names its seed; VRAMSCOPE_TEST_SEEDS is how many programs are played.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/json/documents.hpp"
#include "report/log/log_file.hpp"
#include "report/page/drawn.hpp"
#include "report/rules/read_rules.hpp"
#include "tests/support/collected_log.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::CollectedLog;
using test::full_report_of;
using test::LogBuilder;
using test::Played;
using test::program_to_collect;
using test::refusal_of;
using test::TempFile;
using test::written;

std::uint32_t seeds()
{
    const char* const wanted = std::getenv("VRAMSCOPE_TEST_SEEDS");
    return wanted ? static_cast<std::uint32_t>(std::atoi(wanted)) : 20;
}

// Without what the file itself is called.
Report named_report(const std::filesystem::path& log, const Options& options)
{
    Report report = make_report({log}, options);
    for (Process& process : report.processes)
        process.log = "log";
    return report;
}

// All of a page but who had the memory over time.
std::string page_of(const std::filesystem::path& log)
{
    Options options;
    options.for_page = true;
    const Report report = named_report(log, options);
    Json drawn = drawn_json(report, {});
    for (Json& process : drawn)
        for (Json& device : process)
            device.erase("compositions");
    return report_json(report, Audience::page).dump(1) + drawn.dump(1);
}

// In the formats of stacks.
std::string exports_of(const std::filesystem::path& log)
{
    std::string text;
    ExportOptions options;
    const Sink sink = [&](std::string_view piece) { text += piece; };
    export_pprof(log, sink, options);
    export_folded(log, sink, options);
    options.folded = FoldedSum::allocated;
    export_folded(log, sink, options);
    export_speedscope(log, sink, options);
    const std::string title = "\"name\":\"" + log.filename().string();
    text.erase(text.find(title), title.size());
    return text;
}

constexpr std::string_view kRules = R"(
owner "mine" stack /./ or kind pinned
a: forbid alloc
b: forbid alloc kind pinned
c: forbid alloc not kind pinned device 0
d: forbid stream
e: forbid context
f: forbid graph device 7
g: forbid alloc owner "mine" not module "lib*"
h: forbid alloc file "*/nowhere.cpp"
i: limit live 1GiB
j: limit live 1
k: limit live 4KiB device 0 not stack /nobody/
l: forbid misuse
m: forbid misuse not kind device
)";

Options with_rules(std::string_view rules)
{
    Options options;
    add_rules_file(options.rules, TempFile(Bytes(rules.begin(), rules.end())).path());
    return options;
}

// Which of two call places that had as much comes first is not the same.
std::string rules_of(const std::filesystem::path& log)
{
    const Report report = make_report({log}, with_rules(kRules));
    std::string text;
    for (const RuleOutcome& outcome : report.processes.at(0).rules) {
        text += fmt::format("{} {} {} {}\n", outcome.name, outcome.measured, outcome.never,
                            outcome.unknown);
        for (const RuleCall& call : outcome.calls)
            text += fmt::format("{}\n", outcome.of_bytes ? call.bytes : call.count);
    }
    return text;
}

TEST(CollectedLog, TellsWhatTheWholeLogDoes)
{
    std::uint32_t given_back = 0;
    for (std::uint32_t seed = 1; seed <= seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const Played program = program_to_collect(seed);
        CollectedLog log;
        log.play(program, random);
        given_back += log.chunks_given_back;
        const TempFile whole(written(program.steps, program.layout).build());
        ASSERT_EQ(full_report_of(log.path()), full_report_of(whole.path()));
        if (seed % 4 != 1)
            continue;
        ASSERT_EQ(page_of(log.path()), page_of(whole.path()));
        ASSERT_EQ(exports_of(log.path()), exports_of(whole.path()));
        ASSERT_EQ(rules_of(log.path()), rules_of(whole.path()));
    }
    EXPECT_GT(given_back, 10 * seeds()); // else nothing was tested
}

// The program takes memory, and its allocator cuts a block from that.
LogBuilder program_that_cuts(std::size_t steps)
{
    constexpr std::uint64_t kSegment = 0x1'0000'0000;
    LogBuilder log;
    log.header().suballocated = 1;
    log.place({.context = 1, .device = 0}).alloc(0x1000, 4096);
    if (steps > 0)
        log.alloc(kSegment, 20 << 20);
    if (steps > 1)
        log.alloc(kSegment, 3 << 20, 0, "PyTorch");
    return log;
}

// `written` of its steps are in the log when it is collected, and `settled` of them.
bool is_doubted_after(std::size_t written, std::size_t settled)
{
    CollectedLog log;
    log.grow_to(program_that_cuts(written).build());
    log.collect(program_that_cuts(settled).now() - 1);
    log.grow_to(program_that_cuts(2).build());
    const Report report = make_report({log.path()});
    EXPECT_EQ(report.totals.leaked_blocks, 2u);
    const TempFile whole(program_that_cuts(2).build());
    const bool doubted =
        std::any_of(report.reasons.begin(), report.reasons.end(), [](const std::string& why) {
            return why.find("when the log was collected") != std::string::npos;
        });
    EXPECT_EQ(full_report_of(log.path()) == full_report_of(whole.path()), !doubted);
    return doubted;
}

TEST(CollectedLog, MemoryThatIsCutLaterIsKnownOrThereIsADoubt)
{
    EXPECT_FALSE(is_doubted_after(0, 0));
    EXPECT_FALSE(is_doubted_after(2, 1)); // it was cut within the second
    EXPECT_TRUE(is_doubted_after(1, 1));
}

// Blocks of 4 KiB of a device and of the host, ten of each; the first is freed last.
LogBuilder program_of_both(std::size_t steps)
{
    LogBuilder log;
    log.place({.context = 1, .device = 0});
    for (std::uint64_t step = 1; step <= std::min<std::size_t>(steps, 10); ++step)
        log.alloc(step << 16, 4096).alloc(step << 16, 4096, 0, "cuMemHostAlloc");
    if (steps > 10)
        log.free(1 << 16);
    return log;
}

// Blocks that came in these moments, whatever became of them.
std::uint64_t blocks_born(const Compositions& made, std::size_t first, std::size_t last)
{
    std::uint64_t blocks = 0;
    for (const SpanLife& life : made.lives)
        blocks += life.born >= first && life.born <= last ? life.blocks : 0;
    return blocks;
}

TEST(CollectedLog, APageKnowsWhoHadTheMemorySinceThen)
{
    CollectedLog log;
    log.grow_to(program_of_both(4).build());
    log.collect(program_of_both(4).now() - 1);
    log.grow_to(program_of_both(11).build());
    Options options;
    options.for_page = true;
    const Process process = make_report({log.path()}, options).processes.at(0);
    const Compositions& device = process.memory.at(0).compositions;
    for (const Compositions* made : {&device, &process.host}) {
        ASSERT_TRUE(made->since_ns);
        EXPECT_EQ(made->moments.at(0).from_ns, *made->since_ns);
        EXPECT_EQ(made->moments.at(0).bytes, 4 * 4096u);
        EXPECT_EQ(blocks_born(*made, 0, 0), 4u);
        EXPECT_EQ(blocks_born(*made, 1, made->moments.size()), 6u);
        EXPECT_EQ(made->moments.at(0).parts.at(0).blocks, 4u);
        const auto most = std::max_element(
            made->moments.begin(), made->moments.end(),
            [](const Composition& a, const Composition& b) { return a.bytes < b.bytes; });
        EXPECT_EQ(most->bytes, 10 * 4096u);
    }
    const auto freed =
        std::find_if(device.lives.begin(), device.lives.end(),
                     [](const SpanLife& life) { return life.left != SpanLife::kAlive; });
    ASSERT_NE(freed, device.lives.end());
    EXPECT_EQ(freed->born, 0u);
}

TEST(CollectedLog, IsRefusedWhereEachEventIsNeeded)
{
    CollectedLog log;
    std::mt19937 random(7);
    log.play(program_to_collect(7), random);
    EXPECT_THROW(LogFile::open(log.path()), Error);
    Options until, from;
    until.until_ns = from.from_ns = 1;
    EXPECT_NE(refusal_of(log.path(), until).find("is known from"), std::string::npos);
    EXPECT_NE(refusal_of(log.path(), from).find("is known from"), std::string::npos);
    for (const char* rule :
         {"forbid free", "forbid driver-alloc", "limit peak 1GiB", "limit count-live 9",
          "forbid alloc in capture", "forbid alloc in range a*", "limit live 1GiB thread main"})
        EXPECT_NE(refusal_of(log.path(), with_rules("x: " + std::string(rule)))
                      .find("the rule 'x' needs each event"),
                  std::string::npos)
            << rule;
}

} // namespace
} // namespace vramscope::report
