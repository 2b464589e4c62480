// tests/report/words/row_words_test.cpp — rows of one allocation wrapper do not read alike.
#include "report/words/row_words.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::report_of;

CallPlace calling(const std::vector<std::string>& functions)
{
    CallPlace call;
    call.api = "cudaMalloc";
    std::vector<Frame> stack;
    for (const std::string& function : functions) {
        Frame& frame = stack.emplace_back();
        frame.function = function;
        frame.file = "/src/" + function.substr(0, 1) + ".cu";
        frame.line = 7;
    }
    call.stack = std::move(stack);
    return call;
}

std::vector<std::string> headlines(const std::vector<CallPlace>& calls, std::size_t room = 100)
{
    std::vector<ShownRow> rows;
    for (const CallPlace& call : calls)
        rows.push_back({&call});
    const Report report;
    const RowHeadlines words(rows, report);
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < calls.size(); ++at)
        texts.push_back(words.in(at, room));
    return texts;
}

using Texts = std::vector<std::string>;

TEST(RowWords, ARowThatIsAloneShowsItsInnermostFrame)
{
    EXPECT_EQ(headlines({calling({"wrap()", "load()", "main"})}), Texts{"wrap() w.cu:7"});
    EXPECT_EQ(headlines({calling({"wrap()", "main"}), calling({"keep()", "main"})}),
              (Texts{"wrap() w.cu:7", "keep() k.cu:7"}));
}

TEST(RowWords, RowsOfOneWrapperShowTheFirstFrameThatDiffers)
{
    EXPECT_EQ(
        headlines({calling({"wrap()", "new()", "load()", "main"}),
                   calling({"wrap()", "new()", "keep()", "main"}), calling({"other()", "main"})}),
        (Texts{"load() l.cu:7 via wrap()", "keep() k.cu:7 via wrap()", "other() o.cu:7"}));
}

TEST(RowWords, EachRowDiffersFromAllOthersByWhatItShows)
{
    EXPECT_EQ(
        headlines({calling({"wrap()", "load()", "main"}), calling({"wrap()", "keep()"}),
                   calling({"wrap()", "load()", "test"})}),
        (Texts{"main m.cu:7 via wrap()", "keep() k.cu:7 via wrap()", "test t.cu:7 via wrap()"}));
}

TEST(RowWords, AStackThatEndsWhereAnotherGoesOnShowsItsEnd)
{
    EXPECT_EQ(headlines({calling({"wrap()", "load()"}), calling({"wrap()", "load()", "main"})}),
              (Texts{"load() l.cu:7 via wrap()", "main m.cu:7 via wrap()"}));
    EXPECT_EQ(headlines({calling({}), calling({"wrap()"})}),
              (Texts{"(no stack)", "wrap() w.cu:7"}));
}

TEST(RowWords, TheFrameThatDiffersHasTheRoomFirst)
{
    const Texts narrow = headlines({calling({"wrap()", "load_all_of_the_labels()"}),
                                    calling({"wrap()", "keep_some_of_the_labels()"})},
                                   40);
    EXPECT_EQ(narrow[0], "load_all_of_the_labels() l.cu:7");
    for (const std::size_t room : {0, 1, 20, 45, 60})
        for (const std::string& text :
             headlines({calling({std::string(500, 'w'), "load()"}),
                        calling({std::string(500, 'w'), std::string(500, 'k')})},
                       room))
            EXPECT_LE(text.size(), std::max<std::size_t>(room, 20));
}

TEST(RowWords, NamesThatDifferInWhatIsLeftOutKeepIt)
{
    const std::string rest = "::Tensor(unsigned long)";
    const auto shown = [&](std::size_t room) {
        return headlines({calling({"Tensor<std::complex<float>>" + rest}),
                          calling({"Tensor<std::complex<double>>" + rest}), calling({"load()"})},
                         room);
    };
    EXPECT_EQ(shown(80)[0], "Tensor<std::complex<float>>::Tensor(unsigned long) T.cu:7");
    EXPECT_EQ(shown(50),
              (Texts{"Tensor<std::complex<float>>::Tensor(...) T.cu:7",
                     "Tensor<std::complex<double>>::Tensor(...) T.cu:7", "load() l.cu:7"}));
    EXPECT_EQ(shown(32), (Texts{"Tensor<...float>>::Ten... T.cu:7",
                                "Tensor<...double>>::Te... T.cu:7", "load() l.cu:7"}));
    EXPECT_EQ(headlines({calling({"Tensor<std::complex<float>>" + rest})}, 32),
              Texts{"Tensor<...>::Tensor(...) T.cu:7"});
    for (std::size_t room = 20; room < 60; ++room) {
        const Texts texts = shown(room);
        EXPECT_NE(texts[0], texts[1]) << room;
        for (const std::string& text : texts)
            EXPECT_LE(text.size(), room);
    }
}

TEST(RowWords, OneStackOfSeveralDevicesAndRanksShowsThem)
{
    const CallPlace call = calling({"load()"});
    Report report;
    report.processes.resize(2);
    report.processes[0].pid = 11;
    report.processes[1].pid = 12;
    const RowHeadlines devices({{&call, 0, 0}, {&call, 1, 0}}, report);
    EXPECT_EQ(devices.in(0, 80), "load() l.cu:7, device 0");
    EXPECT_EQ(devices.in(1, 80), "load() l.cu:7, device 1");
    const RowHeadlines processes({{&call, 0, 0}, {&call, 0, 1}}, report);
    EXPECT_EQ(processes.in(1, 80), "load() l.cu:7, process 12");
    RankRow& rank = report.ranks.rows.emplace_back();
    rank.process = 1;
    rank.rank = 3;
    EXPECT_EQ(RowHeadlines({{&call, 0, 0}, {&call, 0, 1}}, report).in(1, 80),
              "load() l.cu:7, rank 3");
}

TEST(RowWords, TheSummaryOfARunTellsTheCallersOfOneWrapperApart)
{
    test::LogBuilder log =
        program().stack(11, {0x402001, 0x403001}).stack(12, {0x402001, 0x404001});
    const Report report = report_of(log.alloc(0x1000, 2 << 20, 11).alloc(0x2000, 1 << 20, 12));
    const auto summary = [&](std::size_t width) {
        TextStyle style;
        style.width = width;
        std::ostringstream out;
        write_summary(out, report, style);
        return out.str();
    };
    for (const char* const caller : {"train+0x3000", "train+0x4000"}) {
        const std::string row = std::string("cuMemAlloc  ") + caller;
        EXPECT_NE(summary(80).find(row + '\n'), std::string::npos) << summary(80);
        EXPECT_NE(summary(160).find(row + " via train+0x2000\n"), std::string::npos)
            << summary(160);
    }
}

} // namespace
} // namespace vramscope::report
