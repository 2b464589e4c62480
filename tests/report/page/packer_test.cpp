// tests/report/page/packer_test.cpp — what is packed is had back, but for what no view reads.
#include "report/page/packer.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/unpacked.hpp"

namespace vramscope::report {
namespace {

Json packed(const Json& document, const PageLimits& limits = {})
{
    Packer packer(limits);
    Json made = packer.packed(document);
    packer.add_tables(made);
    return made;
}

Json back(const Json& document)
{
    Json all = Unpacker(packed(document)).all();
    EXPECT_TRUE(all["thinned"].empty());
    all.erase("thinned");
    return all;
}

Json frame(const char* function, int line)
{
    return {{"function", function}, {"file", "a.cpp"}, {"line", line}, {"inlined", false}};
}

TEST(Packer, GivesBackObjectsListsAndTexts)
{
    const Json document = {{"verdict", "leaks"},
                           {"until_ns", nullptr},
                           {"reasons", {"one", "two"}},
                           {"empty", Json::array()},
                           {"numbers", {1, 2, 3}},
                           {"lines", {{1, 2}, {3}}},
                           {"at_peak", {{"ns", 5}, {"name", "peak"}}}};
    EXPECT_EQ(back(document), document);
}

TEST(Packer, GivesBackRowsWithTextsStacksObjectsAndLists)
{
    const Json call = {{"api", "cuMemFree"}, {"stack", {frame("f", 1), frame("main", 9)}}};
    const Json document = {{"misuse",
                            {{{"kind", "double-free"},
                              {"name", nullptr},
                              {"bytes", 1},
                              {"process", 0},
                              {"call", call},
                              {"allocation", nullptr},
                              {"alive", {{1, 2}, {3, 4}}},
                              {"leaks", {{{"bytes", 7}, {"frame", frame("main", 9)}}}},
                              {"names", {"a", "b"}}},
                             {{"kind", "double-free"},
                              {"name", "second"},
                              {"bytes", 2},
                              {"process", 0},
                              {"call", call},
                              {"allocation", call},
                              {"alive", {Json::array(), Json::array()}},
                              {"leaks", Json::array()},
                              {"names", Json::array()}}}}};
    EXPECT_EQ(back(document), document);
}

TEST(Packer, WritesWhatAllRowsHaveOnce)
{
    Json document = {{"leaks", Json::array()}};
    for (int row = 0; row < 100; ++row)
        document["leaks"].push_back(
            {{"process", 0}, {"api", "cuMemAlloc"}, {"stack", {frame("f", 1)}}});
    const Json columns = packed(document)["leaks"]["columns"];
    EXPECT_EQ(columns, (Json{{"process", 0}, {"$api", 1}, {"stack", 0}}));
    EXPECT_EQ(back(document), document);
}

TEST(Packer, AMemberThatARowLacksIsNothing)
{
    const Json document = {{"rows_of", {{{"a", 1}}, {{"a", 2}, {"remedy", "a larger pool"}}}}};
    const Json all = back(document);
    EXPECT_EQ(all["rows_of"][0]["remedy"], nullptr);
    EXPECT_EQ(all["rows_of"][1]["remedy"], "a larger pool");
}

TEST(Packer, LeavesOutWhatNoViewReads)
{
    const Json document = {{"schema_version", "1.6.0"},
                           {"leaks", {{{"bytes", 1}, {"fingerprint", "0123"}}}},
                           {"device_memory", {{{"timeline", {1, 2}}, {"device", 0}}}},
                           {"other", {{"timeline", {1, 2}}}}};
    const Json expected = {{"leaks", {{{"bytes", 1}}}},
                           {"device_memory", {{{"device", 0}}}},
                           {"other", {{"timeline", {1, 2}}}}};
    EXPECT_EQ(back(document), expected);
}

TEST(Packer, AFunctionIsOneFrameWhateverItsAddress)
{
    Json document = {{"leaks", Json::array()}};
    for (const char* const offset : {"0x1", "0x2"}) {
        Json named = frame("f", 1);
        named["offset"] = offset;
        Json unnamed = named;
        unnamed["function"] = nullptr;
        document["leaks"].push_back({{"stack", {named, unnamed}}});
    }
    const Json made = packed(document);
    EXPECT_EQ(made["frames"]["rows"], 3);
    EXPECT_EQ(made["stacks"], (Json{{0, 1}, {0, 2}}));
}

TEST(Packer, KeysOfTheProgramAreTextsAndMadeSafe)
{
    const Json document = {{"info", {{"__proto__", "x"}, {"$stack\x1b[2J", "y"}}}};
    const Json all = back(document);
    ASSERT_EQ(all["info"].size(), 2u);
    EXPECT_EQ(all["info"][0], (Json{{"key", "__proto__"}, {"value", "x"}}));
    EXPECT_EQ(all["info"][1]["key"].get<std::string>().find('\x1b'), std::string::npos);
    const Json list = {{"processes", {document, document}}};
    EXPECT_EQ(back(list)["processes"][1]["info"], all["info"]);
}

TEST(Packer, SaysWhatIsLeftOutAndCutsLongTexts)
{
    PageLimits limits;
    limits.rows = 2;
    limits.characters = 64;
    Json document = {{"out_of_memory", Json::array()}, {"notices", {std::string(100, 'x')}}};
    for (int row = 0; row < 5; ++row)
        document["out_of_memory"].push_back({{"at_ns", row}});
    const Json made = packed(document, limits);
    EXPECT_EQ(made["out_of_memory"]["rows"], 2);
    EXPECT_EQ(made["out_of_memory"]["all"], 5);
    EXPECT_EQ(made["thinned"],
              (Json{"2 of 5 rows of out of memory are in this page, the first in their order.",
                    "Texts of more than 64 characters are cut, which is shown."}));
    EXPECT_EQ(made["strings"][1], std::string(64, 'x') + "…");
}

} // namespace
} // namespace vramscope::report
