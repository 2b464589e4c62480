// tests/report/job/read_reduced_test.cpp — a reduced table is written, read back, and believed in
// nothing.
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/exporters/reduced.hpp"
#include "report/job/reduced_table.hpp"
#include "tests/support/reduced_end.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

constexpr const char* kHead = "{\"type\":\"reduced\",\"version\":2}\n";
constexpr const char* kProcess = "{\"type\":\"process\",\"pid\":4711,\"rank\":3}\n";

std::vector<ReducedProcess> read(const std::string& text)
{
    std::istringstream in(text);
    std::vector<ReducedProcess> processes;
    read_reduced(in, "t.jsonl",
                 [&](const ReducedProcess& process) { processes.push_back(process); });
    return processes;
}

std::string refusal(const std::string& text)
{
    try {
        read(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::bad_input);
        return error.what();
    }
    return "";
}

const std::string kLines =
    std::string(kHead) + kProcess +
    R"x({"type":"device","device":0,"total_bytes":1000,"peak_reserved_bytes":400}
{"type":"texts","columns":["text"],"rows":[["main"],["a.cu"],["load()"],["cudaMalloc"],["device"]]}
{"type":"frames","columns":["up","function","line","file"],"rows":[[0,0,9,1],[1,2,5]]}
{"type":"sites","columns":["fingerprint","frame","own","api","memory","leaked_bytes","new"],"rows":[["00ff",1,0,3,4,512,7],["00fe",null,0,3,4],[0,1,0,3,4]]}
)x";
const std::string kTable = test::with_end(kLines);

TEST(ReadReduced, TakesColumnsByTheirNames)
{
    const std::vector<ReducedProcess> processes = read(kTable);
    ASSERT_EQ(processes.size(), 1u);
    const ReducedProcess& process = processes[0];
    EXPECT_EQ(process.rank, 3u);
    EXPECT_EQ(process.about.pid, 4711u);
    EXPECT_EQ(process.about.verdict, Verdict::inconclusive); // it does not say
    ASSERT_EQ(process.devices.size(), 1u);
    EXPECT_EQ(process.devices[0].peak_reserved_bytes, 400u);
    ASSERT_EQ(process.sites.size(), 3u);
    EXPECT_EQ(process.sites[0].fingerprint, "00ff");
    EXPECT_EQ(process.sites[2].fingerprint, "00ff"); // that of the first
    EXPECT_EQ(process.sites[0].leaked_bytes, 512u);
    EXPECT_EQ(process.sites[0].memory, format::Memory::device);
    const CallPlace place = process.place_of(process.sites[0]);
    EXPECT_EQ(place.api, "cudaMalloc");
    ASSERT_EQ(place.stack.size(), 2u);
    EXPECT_EQ(place.stack[0].function, "load()");
    EXPECT_EQ(place.stack[0].file, "a.cu"); // its caller's
    EXPECT_EQ(place.stack[1].line, 9);
    EXPECT_TRUE(process.place_of(process.sites[1]).stack.empty());
}

TEST(ReadReduced, IsWhatTheReportSays)
{
    constexpr std::uint64_t kLeaked = 3u << 20;
    Options options;
    options.all_sites = true;
    const Report report = test::report_of(test::program_that_cuts(kLeaked), options);
    std::stringstream table;
    write_reduced(table, report);
    const std::vector<ReducedProcess> processes = read(table.str());
    ASSERT_EQ(processes.size(), 1u);
    EXPECT_EQ(processes[0].about.leaked_bytes, report.totals.leaked_bytes);
    EXPECT_EQ(processes[0].about.verdict, report.verdict);
    EXPECT_EQ(processes[0].about.exit_status, 0u);
    EXPECT_TRUE(processes[0].about.found);
    ASSERT_EQ(processes[0].headlines.size(), report.headlines.size());
    EXPECT_EQ(processes[0].headlines[0].kind, HeadlineKind::leaks);
    EXPECT_EQ(processes[0].headlines[0].title, "Leaks");
    EXPECT_EQ(processes[0].headlines[0].sentence(), report.headlines[0].sentence());
    std::uint64_t leaked = 0;
    std::uint64_t at_peak = 0;
    for (const ReducedSite& site : processes[0].sites) {
        leaked += site.leaked_bytes;
        at_peak += site.at_peak_bytes;
    }
    EXPECT_EQ(leaked, report.totals.leaked_bytes);
    EXPECT_EQ(at_peak, report.processes[0].memory[0].peak.bytes);
    std::uint64_t allocations = 0;
    for (const SiteSums& site : report.processes[0].sites)
        allocations += site.allocations;
    EXPECT_EQ(allocations, 3u); // of the program's own: not the segment
}

TEST(ReadReduced, TextsAndFramesAreOfTheirProcess)
{
    EXPECT_EQ(
        refusal(kLines + kProcess + R"({"type":"sites","columns":["api"],"rows":[[3]]})" + "\n"),
        "t.jsonl: line 8 names a text that is not there");
}

TEST(ReadReduced, IsNeverWholeWhereALineIsGoneOrThereTwice)
{
    const std::string whole = test::with_end(kLines + kProcess);
    EXPECT_EQ(read(whole).size(), 2u);
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < whole.size(); ++line) {
        const std::size_t end = whole.find('\n', begin) + 1;
        EXPECT_NE(refusal(whole.substr(0, begin)), "") << "cut before line " << line;
        EXPECT_NE(refusal(whole.substr(0, begin) + whole.substr(end)), "") << "without " << line;
        EXPECT_NE(refusal(whole.substr(0, end) + whole.substr(begin)), "") << "twice " << line;
        begin = end;
    }
    EXPECT_EQ(line, 8u);
    EXPECT_EQ(refusal(kLines),
              "t.jsonl is cut: it has 6 lines, and not the one at the end that counts them");
    const auto ended = [](const std::string& counts) {
        return kLines + R"({"type":"end","lines":)" + counts + "}\n";
    };
    EXPECT_EQ(refusal(ended(R"({"process":2})")),
              "t.jsonl is damaged: it has 1 line of type device, and its end says 0");
    EXPECT_EQ(refusal(ended(R"({"process":2,"device":1,"texts":1,"frames":1,"sites":1})")),
              "t.jsonl is cut: it has 1 line of type process, and its end says 2");
    EXPECT_NE(refusal(ended("null")), "");
    EXPECT_EQ(refusal(kTable + kProcess),
              "t.jsonl: line 8 comes after the end: `vramscope reduce` joins tables");
}

TEST(ReadReduced, SaysWhatIsWrongAndWhere)
{
    EXPECT_EQ(refusal(""), "t.jsonl: line 0 is the last, and there is no process");
    EXPECT_EQ(refusal("hello\n"), "t.jsonl is no reduced table");
    EXPECT_EQ(refusal("{\"type\":\"reduced\",\"version\":1}\n"),
              "t.jsonl is a reduced table of version 1; this vramscope reads version 2: make it "
              "again with `vramscope reduce`");
    EXPECT_EQ(refusal(kHead), "t.jsonl: line 1 is the last, and there is no process");
    EXPECT_EQ(refusal(std::string(kHead) + "{\"type\":\"device\"}\n"),
              "t.jsonl: line 2 comes before any process");
    EXPECT_EQ(refusal(std::string(kHead) + "{\"type\":\"proc\n"),
              "t.jsonl: line 2 is no JSON object");
    const std::string begin = std::string(kHead) + kProcess;
    EXPECT_EQ(refusal(begin + R"({"type":"frames","columns":["up"],"rows":[[5]]})"),
              "t.jsonl: line 3 names a frame that is not there");
    EXPECT_EQ(refusal(begin + R"({"type":"sites","columns":["api"],"rows":[[-1]]})"),
              "t.jsonl: line 3 names a text that is not there");
    EXPECT_EQ(refusal(begin + R"({"type":"sites","columns":["fingerprint"],"rows":[[0]]})"),
              "t.jsonl: line 3 names a site that does not come before");
    EXPECT_EQ(
        refusal(begin + R"({"type":"frames","columns":["function"],"rows":[[0]]})"),
        "t.jsonl: line 3 names a frame that is not there"); // whether one called it is not said
}

TEST(ReadReduced, ATextThatEachRowNamesIsNotCopiedForEver)
{
    std::string text = std::string(kHead) + kProcess +
                       R"({"type":"texts","columns":["text"],"rows":[[")" +
                       std::string(1 << 20, 'x') + "\"]]}\n" +
                       R"({"type":"sites","columns":["api","memory"],"rows":[[0,0])";
    for (int at = 0; at < 1000; ++at)
        text += ",[0,0]";
    EXPECT_EQ(refusal(text + "]}\n"), "t.jsonl: line 4 names more text than a process has");
}

TEST(ReadReduced, AStackOfAnyDepthCostsLittleForEachSite)
{
    std::string text = std::string(kHead) + kProcess +
                       R"({"type":"texts","columns":["text"],"rows":[["f"]]})" + "\n" +
                       R"({"type":"frames","columns":["up","function","file"],"rows":[[0,0,0])";
    for (int at = 0; at < 100'000; ++at)
        text += ",[1,0]";
    text += "]}\n"
            R"({"type":"sites","columns":["api","frame","memory"],"rows":[[0,100000,0]]})"
            "\n";
    const std::vector<ReducedProcess> processes = read(test::with_end(text));
    EXPECT_LE(processes[0].place_of(processes[0].sites[0]).stack.size(), 16u);
}

TEST(ReadReduced, WhateverIsChangedIsATableOrOneLineOfError)
{
    std::mt19937 random(4711);
    for (int turn = 0; turn < 20'000; ++turn) {
        const bool counted = random() % 4 > 0; // its end, after the changes
        std::string text = counted ? kLines : kTable;
        for (std::uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
            const std::size_t at = random() % text.size();
            if (random() % 3 == 0)
                text.erase(at, 1 + random() % 20);
            else
                text[at] = "0123456789[]{},\"-nul\n\xff"[random() % 21];
        }
        try {
            for (const ReducedProcess& process : read(counted ? test::with_end(text) : text))
                for (const ReducedSite& site : process.sites)
                    EXPECT_LE(process.place_of(site).stack.size(), 16u);
        } catch (const Error& error) {
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        }
    }
}

} // namespace
} // namespace vramscope::report
