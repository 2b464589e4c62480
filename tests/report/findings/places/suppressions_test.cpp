// tests/report/findings/places/suppressions_test.cpp — rules: grammar, matches and effect.
#include "report/findings/places/suppressions.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/findings/make_report.hpp"
#include "report/judge/judge.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::TempFile;
using test::operator""_MiB;

// gcc 12's LeakSanitizer gave these answers.
TEST(SuppressionPattern, IsMatchedAsLeakSanitizerDoes)
{
    const std::string function = "foofoo(Tensor*, int)";
    for (const char* pattern : {"foofoo", "^foo", "^foofoo(Tensor*, int)$", "foo*$", "f*T*int",
                                "^*Tensor", "foofoo(*)$xyz", "*", "^*", "ensor*"})
        EXPECT_TRUE(matches(pattern, function)) << pattern;
    for (const char* pattern :
         {"FOOFOO", "foo$", "foo?oo", "^ofoo", " foofoo", "*^foo", "foo$xyz", "foofoo$", "bar*"})
        EXPECT_FALSE(matches(pattern, function)) << pattern;
}

TEST(SuppressionPattern, MatchesNoNameThatIsNotKnown)
{
    EXPECT_FALSE(matches("*", ""));
    EXPECT_FALSE(matches("$", ""));
}

TEST(SuppressionPattern, MatchesTheShortNameThatAFunctionHadBefore)
{
    Suppressions rules;
    rules.add_text("leak:^inlined$", "rules");
    Frame frame;
    frame.function = "shop::inlined(int)";
    EXPECT_FALSE(rules.match(std::vector<Frame>{frame}));
    frame.short_name = "inlined";
    EXPECT_TRUE(rules.match(std::vector<Frame>{frame}));
}

TEST(SuppressionPattern, EndIsWhereTheFirstMatchEnds)
{
    EXPECT_FALSE(matches("foo$", "foofoo")) << "LeakSanitizer looks no further";
    EXPECT_TRUE(matches("foo*foo$", "foofoo"));
}

Suppressions rules(const std::string& text)
{
    Suppressions suppressions;
    suppressions.add_text(text, "known.supp");
    return suppressions;
}

TEST(Suppressions, HaveCommentsBlankLinesAndBlanksAround)
{
    const Suppressions read = rules("# known\n\n  leak:a b \t\r\n\tleak:c\n   # more\nleak:d");
    ASSERT_EQ(read.rules().size(), 3u);
    EXPECT_EQ(read.rules()[0].pattern, "a b");
    EXPECT_EQ(read.rules()[0].line, 3u);
    EXPECT_EQ(read.rules()[1].pattern, "c");
    EXPECT_EQ(read.rules()[2].line, 6u);
    EXPECT_EQ(read.rules()[2].text(), "leak:d");
}

TEST(Suppressions, KeepBlanksBehindTheColonAndCommentsAfterARule)
{
    const Suppressions read = rules("leak: a\nleak:b # c\n");
    EXPECT_EQ(read.rules()[0].pattern, " a");
    EXPECT_EQ(read.rules()[1].pattern, "b # c");
}

TEST(Suppressions, RefuseWhatIsNoRuleWithFileAndLine)
{
    for (const char* line :
         {"race:foo", "foo", "leak :foo", "LEAK:foo", "leak", "leak:", "leak:  "}) {
        try {
            rules("leak:x\n" + std::string(line) + "\n");
            FAIL() << line;
        } catch (const Error& error) {
            EXPECT_EQ(error.exit(), Exit::usage);
            EXPECT_EQ(std::string(error.what()).rfind("known.supp:2: ", 0), 0u) << error.what();
        }
    }
}

TEST(Suppressions, AFileThatIsNamedTwiceIsReadOnce)
{
    const TempFile file({'l', 'e', 'a', 'k', ':', 'f', '\n'});
    Suppressions suppressions;
    suppressions.add_file(file.path());
    suppressions.add_file(file.path());
    EXPECT_EQ(suppressions.rules().size(), 1u);
}

TEST(Suppressions, OfAFileThatIsNotThereSayWhich)
{
    for (const char* path : {"/no/such/known.supp", "/", "/dev/zero"}) {
        try {
            Suppressions().add_file(path);
            FAIL() << path;
        } catch (const Error& error) {
            EXPECT_EQ(error.exit(), Exit::usage);
            EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
        }
    }
}

Frame frame(std::string function, std::string file, std::string module)
{
    Frame frame;
    frame.function = std::move(function);
    frame.file = std::move(file);
    frame.module = std::move(module);
    return frame;
}

TEST(Suppressions, LookAtModuleThenFunctionThenFileOfEachFrame)
{
    const Suppressions read = rules("leak:train.cu\nleak:load\nleak:libdata.so\n");
    const Frame inner = frame("load(int)", "/src/train.cu", "/lib/libdata.so");
    EXPECT_EQ(read.match({inner}), 2u);
    EXPECT_EQ(read.match({frame("", "", "/bin/x"), frame("load(int)", "train.cu", "")}), 1u);
    EXPECT_EQ(read.match({frame("", "train.cu", "")}), 0u);
    EXPECT_EQ(read.match({frame("other", "other.cu", "other")}), std::nullopt);
}

TEST(Suppressions, BuiltInOnesLookAtTheNameOfTheLibrary)
{
    Suppressions read;
    read.add_built_in();
    for (const char* module : {"/usr/local/cuda/lib64/libcublas.so.12", "libcudnn_ops.so.9",
                               "/opt/libnppif.so.12", "/x/libnccl.so.2.21"})
        EXPECT_TRUE(read.match_built_in(frame("", "", module), "cudaMalloc")) << module;
    for (const char* module : {"/usr/lib/libcublas.so.d/libtrain.so", "/bin/train", "",
                               "libmycublas.so", "/x/libnccl-net.so", "libcuda.so.1"})
        EXPECT_FALSE(read.match_built_in(frame("", "", module), "cudaMalloc")) << module;
    EXPECT_FALSE(read.match("libcublas.so.12")) << "they are no rules for any frame";
    const Frame torch = frame("", "", "/opt/torch/lib/libtorch_cuda.so");
    for (const char* api : {"cudaHostAlloc", "cudaMallocHost", "cuMemHostAlloc"})
        EXPECT_TRUE(read.match_built_in(torch, api)) << api;
    EXPECT_FALSE(read.match_built_in(torch, "cudaMalloc")) << "its pinned memory alone is kept";
    const Frame pool = frame("", "", "/opt/torch/lib/libc10_cuda.so");
    EXPECT_TRUE(read.match_built_in(pool, "cudaStreamCreateWithPriority"));
    EXPECT_FALSE(read.match_built_in(pool, "cudaMalloc"));
}

// Stack 1 is in the program, 2 in a library of its own, 3 in cuBLAS, called by the program.
LogBuilder program()
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "b1");
    log.module(2, 0x600000, 0x600000, 0x700000, "/gone/libdata.so", "b2");
    log.module(3, 0x800000, 0x800000, 0x900000, "/gone/libcublas.so.12", "b3");
    log.stack(1, {0x401001}).stack(2, {0x601001, 0x401101}).stack(3, {0x801001, 0x401201});
    log.place({.context = 1, .device = 0});
    return log;
}

Report report_with(const LogBuilder& log, const Suppressions& suppressions)
{
    const TempFile file(log.build());
    Options options;
    options.suppressions = suppressions;
    return make_report({file.path()}, options);
}

TEST(Suppressed, RowsAreInNoLeakedTotalButInTheirOwn)
{
    const LogBuilder log = program().alloc(0x1000, 1_MiB, 1).alloc(0x2000, 2_MiB, 2);
    const Report report = report_with(log, rules("leak:libdata\nleak:nothing\n"));
    EXPECT_EQ(report.verdict, Verdict::leaks);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].bytes, 1_MiB);
    EXPECT_EQ(report.totals.leaked_bytes, 1_MiB);
    EXPECT_EQ(report.totals.leaked_blocks, 1u);
    EXPECT_EQ(report.totals.leaked_by_memory.at(0).bytes, 1_MiB);
    EXPECT_EQ(report.totals.suppressed_bytes, 2_MiB);
    EXPECT_EQ(report.totals.suppressed_blocks, 1u);
    ASSERT_EQ(report.suppressed.size(), 1u);
    EXPECT_EQ(report.suppressed[0].suppression, 0u);
    ASSERT_EQ(report.suppressions.size(), 2u);
    EXPECT_EQ(report.suppressions[0].bytes, 2_MiB);
    EXPECT_EQ(report.suppressions[0].rows, 1u);
    EXPECT_EQ(report.suppressions[1].rows, 0u) << "not used, and told so";
}

TEST(Suppressed, ARunWhoseLeaksAreAllKnownIsClean)
{
    const Report report = report_with(program().alloc(0x1000, 1_MiB, 1), rules("leak:train"));
    EXPECT_EQ(report.verdict, Verdict::clean);
    EXPECT_TRUE(report.totals.leaked_by_memory.empty());
    EXPECT_EQ(report.processes.at(0).totals.leaked_blocks, 0u);
}

TEST(Suppressed, TheApiThatTheUserCalledCanBeNamed)
{
    LogBuilder log = program();
    log.alloc(0x1000, 1, 1).alloc(0x2000, 1, 1, "cuMemAllocManaged");
    const Report report = report_with(log, rules("leak:^cuMemAlloc$"));
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].memory, format::Memory::managed);
}

TEST(Suppressed, TheInnermostFrameThatAnyRuleMatchesDecides)
{
    const Report report =
        report_with(program().alloc(0x1000, 1, 2), rules("leak:/train\nleak:libdata\n"));
    EXPECT_EQ(report.suppressions.at(0).rows, 0u);
    EXPECT_EQ(report.suppressions.at(1).rows, 1u);
}

TEST(Suppressed, FramesAreMatchedThatAReportDoesNotShow)
{
    LogBuilder log = program();
    log.module(4, 0xa00000, 0xa00000, 0xb00000, "/lib/x86_64-linux-gnu/libc.so.6");
    log.stack(4, {0x401001, 0xa01001}).alloc(0x1000, 1, 4);
    EXPECT_EQ(report_with(log, rules("leak:libc.so")).verdict, Verdict::clean);
}

TEST(Suppressed, AnImportThatIsKnownIsNotUnclosed)
{
    LogBuilder log = program();
    log.alloc(0x1000, 1_MiB, 1, "cuIpcOpenMemHandle_v2");
    EXPECT_EQ(report_with(log, {}).verdict, Verdict::leaks);
    const Report report = report_with(log, rules("leak:train"));
    EXPECT_EQ(report.verdict, Verdict::clean);
    EXPECT_EQ(report.totals.unclosed_imports, 0u);
    EXPECT_EQ(report.totals.unclosed_import_bytes, 0u);
    EXPECT_EQ(report.totals.suppressed_blocks, 1u);
    EXPECT_EQ(report.totals.suppressed_bytes, 0u) << "the bytes of others are in no sum";
}

TEST(Suppressed, ByABuiltInRuleIsWhatALibraryAllocatesOnce)
{
    Suppressions built_in;
    built_in.add_built_in();
    LogBuilder log = program();
    log.alloc(0x1000, 32_MiB, 3);
    const Report report = report_with(log, built_in);
    EXPECT_EQ(report.verdict, Verdict::clean);
    ASSERT_EQ(report.suppressions.size(), 1u) << "only those that were used";
    EXPECT_TRUE(report.suppressions[0].rule.built_in());
    EXPECT_EQ(report.suppressed.at(0).suppression, 0u);
    EXPECT_EQ(report_with(log, {}).verdict, Verdict::leaks);
}

TEST(Suppressed, ByABuiltInRuleIsNothingThatRepeats)
{
    Suppressions built_in;
    built_in.add_built_in();
    LogBuilder log = program();
    for (std::uint64_t step = 0; step < 10; ++step)
        log.at(2'000'000 + step * 1'000'000).alloc(0x1000 + step, 1_MiB, 3);
    EXPECT_EQ(report_with(log, built_in).verdict, Verdict::leaks);
    EXPECT_EQ(report_with(log, rules("leak:cublas")).verdict, Verdict::clean);
}

TEST(Suppressed, GrowthThatAUserKnowsIsNotTold)
{
    Report report = report_of(program().alloc(0x1000, 1, 1).free(0x1000));
    Growth growth;
    growth.suppression = 0;
    growth.freed = true;
    report.growth = {growth, Growth()};
    suppress(report, rules("leak:train"));
    EXPECT_EQ(report.growth.size(), 1u);
    EXPECT_EQ(report.suppressions.at(0).rows, 1u);
    report.growth = {growth};
    report.suppressions.clear();
    Suppressions built_in;
    built_in.add_built_in();
    suppress(report, built_in);
    EXPECT_EQ(report.growth.size(), 1u) << "it grows, whoever allocates it";
}

TEST(Suppressed, ObjectsThatAUserKnowsAreNoFinding)
{
    LogBuilder log = program();
    log.info("recorded", "contexts objects");
    for (std::uint64_t step = 0; step < 100; ++step) {
        log.alloc(0x1000, 1_MiB, 2).free(0x1000);
        log.alloc(0x90000 + step, 0, 1, "cuStreamCreate");
    }
    const Report told = report_with(log, {});
    EXPECT_TRUE(told.objects.at(0).piles_up());
    const Report report = report_with(log, rules("leak:train"));
    EXPECT_FALSE(report.objects.at(0).piles_up());
    EXPECT_EQ(report.objects.at(0).blocks, 100u) << "they are there";
    EXPECT_EQ(report.headlines.front().kind, HeadlineKind::clean);
    EXPECT_EQ(report.suppressions.at(0).rows, 1u);
    Budget budget;
    budget.max_leaked_objects = 0;
    EXPECT_EQ(check(report, budget).exit, Exit::ok);
    EXPECT_EQ(check(told, budget).exit, Exit::findings);
}

TEST(Suppressed, UserRulesAreBeforeBuiltInOnes)
{
    Suppressions both;
    both.add_built_in();
    both.add_text("leak:libcublas", "mine.supp");
    const Report report = report_with(program().alloc(0x1000, 1, 3), both);
    ASSERT_EQ(report.suppressions.size(), 1u);
    EXPECT_EQ(report.suppressions[0].rule.source, "mine.supp");
}

TEST(Suppressed, WhatACrashLeftIsStillInconclusive)
{
    LogBuilder log = program().alloc(0x1000, 1, 1);
    log.header().end = format::End::unknown;
    EXPECT_EQ(report_with(log, rules("leak:train")).verdict, Verdict::inconclusive);
}

} // namespace
} // namespace vramscope::report
