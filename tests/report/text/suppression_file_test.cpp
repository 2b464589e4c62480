// tests/report/text/suppression_file_test.cpp — rules that are written for leaks.
//
// They match these leaks, and are safe to print.
#include "report/text/suppression_file.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/findings/places/frames.hpp"
#include "report/findings/places/suppressions.hpp"

namespace vramscope::report {
namespace {

Frame frame(std::string function, std::string module = "/bin/train")
{
    Frame frame;
    frame.function = std::move(function);
    frame.module = std::move(module);
    frame.library = is_library(frame); // as StackReader judges it
    return frame;
}

Leak leak(std::vector<Frame> stack)
{
    Leak leak;
    leak.api = "cudaMalloc";
    leak.bytes = 4096;
    leak.blocks = 1;
    leak.stack = std::move(stack);
    return leak;
}

std::string file_for(std::vector<Leak> leaks)
{
    Report report;
    report.leaks = std::move(leaks);
    std::ostringstream out;
    write_suppression_file(out, report);
    return out.str();
}

TEST(SuppressionFile, NamesTheInnermostFunctionOfTheProgramsOwn)
{
    EXPECT_EQ(suppression_pattern(leak({frame("load(int)"), frame("main")})), "^load(int)$");
    EXPECT_EQ(
        suppression_pattern(leak({frame("std::vector<float>::reserve(unsigned long)"),
                                  frame("void thrust::fill<int>(int*)"), frame("load(int)")})),
        "^load(int)$");
    EXPECT_EQ(suppression_pattern(leak({frame("std::function<void ()>::operator()() const")})),
              "^std::function<void ()>::operator()() const$")
        << "better than none";
    EXPECT_EQ(suppression_pattern(leak({frame(""), frame("main")})), "^main$");
}

TEST(SuppressionFile, NamesTheModuleWhereNoFunctionIsKnown)
{
    EXPECT_EQ(suppression_pattern(leak({frame("", ""), frame("", "/lib/libdata.so")})),
              "^/lib/libdata.so$");
    EXPECT_EQ(suppression_pattern(leak({})), "");
    EXPECT_NE(file_for({leak({})}).find("\n# no rule: "), std::string::npos);
}

TEST(SuppressionFile, RulesMatchWhateverTheNameHolds)
{
    for (const std::string name :
         {"f(char*, void (*)(int*))", "operator*(A const&, A const&)",
          "g::{lambda()#1}::operator()", "_ZN$_0clEv", "a$", "$", "x^y", "tabs\tand\nlines",
          "\x1b[31mred", "caf\u00e9", "bidi\u202e", "\xff\xfe", "ends with blank "}) {
        const std::string pattern = suppression_pattern(leak({frame(name)}));
        EXPECT_TRUE(matches(pattern, name)) << pattern;
        Suppressions read;
        read.add_text(file_for({leak({frame(name)})}), "file");
        ASSERT_EQ(read.rules().size(), 1u) << name;
        EXPECT_EQ(read.rules()[0].pattern, pattern);
    }
}

TEST(SuppressionFile, IsSafeForATerminal)
{
    const std::string text =
        file_for({leak({frame("\x1b[31mred\u202e\x9b"), frame("\u009bmore", "\x1b")})});
    for (const char* bad : {"\x1b", "\u202e", "\u009b", "\x9b"})
        EXPECT_EQ(text.find(bad), std::string::npos) << text;
}

TEST(SuppressionFile, OneCallerIsNoReasonForCare)
{
    const std::string text = file_for({leak({frame("load()"), frame("other()"), frame("main")}),
                                       leak({frame("load()"), frame("other()"), frame("f()")})});
    EXPECT_EQ(text.find("careful"), std::string::npos) << text;
}

TEST(SuppressionFile, SaysOfALeakThatGrowsThatItDoesAndOfOneThatIsBoundedNothing)
{
    Leak found = leak({frame("load()")});
    found.pattern = Pattern::repeated;
    found.leak_class = LeakClass::growing;
    found.rate = {.per = "step", .bytes_per_step = 4096, .steps = 80, .confidence = 0.99};
    EXPECT_NE(file_for({found}).find(", growing by 4 KiB per step, 99.0 % sure\n"),
              std::string::npos)
        << file_for({found});
    for (const LeakClass bounded : {LeakClass::cache, LeakClass::start_up}) {
        found.leak_class = bounded;
        EXPECT_EQ(file_for({found}).find("grow"), std::string::npos) << file_for({found});
    }
    found.leak_class = LeakClass::unclear;
    EXPECT_NE(file_for({found}).find("it may grow with the run"), std::string::npos);
}

TEST(SuppressionFile, HasARuleForObjectsThatPileUp)
{
    Report report;
    ObjectRow& streams = report.objects.emplace_back();
    streams.memory = format::Memory::stream;
    streams.api = "cudaStreamCreate";
    streams.blocks = 100;
    streams.kind = LeakKind::never_destroyed;
    streams.stack = {frame("serve()")};
    std::ostringstream none;
    write_suppression_file(none, report);
    EXPECT_EQ(none.str(), "# nothing to suppress: nothing leaked\n");
    streams.leak_class = LeakClass::growing;
    streams.rate = {.per = "", .blocks_per_step = 1, .steps = 80, .confidence = 0.99};
    std::ostringstream out;
    write_suppression_file(out, report);
    EXPECT_NE(
        out.str().find(
            "# 100 streams, cudaStreamCreate, never-destroyed, growing by 1 of them per call"),
        std::string::npos)
        << out.str();
    EXPECT_NE(out.str().find("\nleak:^serve()$\n"), std::string::npos) << out.str();
}

TEST(SuppressionFile, HasOneRuleForAllLeaksOfAFunctionAndACarefulOneForMain)
{
    EXPECT_EQ(
        file_for({leak({frame("load()"), frame("main")}), leak({frame("main")}),
                  leak({frame("load()"), frame("other()")})}),
        R"(# Known leaks, for --suppressions. A rule hides every leak through its function: keep what you know,
# and delete the rest.

# 4 KiB in 1 block, cudaMalloc, leaked-at-exit
#   load()  [train]
#   main  [train]
# 4 KiB in 1 block, cudaMalloc, leaked-at-exit
#   load()  [train]
#   other()  [train]
# careful: this hides what any of 2 callers leaks; name one of them instead to hide its leaks alone
leak:^load()$

# 4 KiB in 1 block, cudaMalloc, leaked-at-exit
#   main  [train]
# careful: every leak of the program is under main
leak:^main$
)");
}

} // namespace
} // namespace vramscope::report
