// tests/report/page/source_lines_test.cpp — five lines of a source; nothing of what is no source, and never too much.
#include "report/page/source_lines.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace vramscope::report {
namespace {

Json source_frame(const std::string& file, int line)
{
    return {{"function", "f"}, {"file", file}, {"line", line}};
}

Json stack_of(const Json& one)
{
    return {{"leaks", Json::array({{{"stack", Json::array({one})}}})}};
}

Json lines_of(const Json& document, const FilePlaces& places = {})
{
    return source_lines_json({&document}, places);
}

class SourceLines : public testing::Test {
protected:
    std::string written(const std::string& name, std::string_view text) const
    {
        std::ofstream(folder_.file(name)) << text;
        return folder_.file(name);
    }

    const test::TempDir folder_;
};

constexpr std::string_view kSeven = "one\n\ttwo\nthree\r\nfour\nfive\nsix\nseven";

TEST_F(SourceLines, AreTwoBeforeAndTwoAfterEachOnceInAFile)
{
    const std::string file = written("a.cu", kSeven);
    const Json document = {
        {"leaks", Json::array({{{"stack", {source_frame(file, 3), source_frame(file, 4)}}}})}};
    const Json expected =
        Json::array({{{"file", file},
                      {"at", {1, 2, 3, 4, 5, 6}},
                      {"lines", {"one", "    two", "three", "four", "five", "six"}}}});
    EXPECT_EQ(lines_of(document), expected);
}

TEST_F(SourceLines, EndWithTheFile)
{
    const Json found = lines_of(stack_of(source_frame(written("a.cu", kSeven), 7)));
    EXPECT_EQ(found.at(0).at("lines"), Json({"five", "six", "seven"}));
    EXPECT_TRUE(lines_of(stack_of(source_frame(folder_.file("a.cu"), 700))).empty());
    EXPECT_TRUE(lines_of(stack_of(source_frame(written("empty.cu", ""), 1))).empty());
}

TEST_F(SourceLines, OfLibrariesAndOfFramesWithoutALineAreNotLookedFor)
{
    const std::string file = written("a.cu", kSeven);
    Json library = source_frame(file, 3);
    library["library"] = true;
    EXPECT_TRUE(lines_of(stack_of(library)).empty());
    EXPECT_TRUE(lines_of(stack_of(source_frame(file, 0))).empty());
    EXPECT_TRUE(lines_of(stack_of(source_frame(file, -3))).empty());
}

TEST_F(SourceLines, AreReadOfRegularFilesWithTheEndingOfASourceAlone)
{
    EXPECT_TRUE(lines_of(stack_of(source_frame(written("id_rsa", kSeven), 3))).empty());
    EXPECT_TRUE(lines_of(stack_of(source_frame(written("passwords.txt", kSeven), 3))).empty());
    std::filesystem::create_directory(folder_.file("folder.cu"));
    EXPECT_TRUE(lines_of(stack_of(source_frame(folder_.file("folder.cu"), 3))).empty());
    ASSERT_EQ(::mkfifo(folder_.file("pipe.cu").c_str(), 0600), 0);
    EXPECT_TRUE(lines_of(stack_of(source_frame(folder_.file("pipe.cu"), 3))).empty());
    std::filesystem::create_symlink("/dev/zero", folder_.file("zero.cu"));
    EXPECT_TRUE(lines_of(stack_of(source_frame(folder_.file("zero.cu"), 3))).empty());
    EXPECT_TRUE(lines_of(stack_of(source_frame(folder_.file("none.cu"), 3))).empty());
}

TEST_F(SourceLines, AreThoseOfTheContainer)
{
    std::filesystem::create_directory(folder_.file("app"));
    written("app/a.cu", kSeven);
    const Json document = stack_of(source_frame("/app/a.cu", 1));
    EXPECT_TRUE(lines_of(document).empty());
    EXPECT_EQ(lines_of(document, FilePlaces(folder_.path(), {})).size(), 1u);
    EXPECT_EQ(lines_of(document, FilePlaces({}, {{"/app", folder_.path() / "app"}})).size(), 1u);
    const std::string outside = written("outside.cu", kSeven);
    std::filesystem::create_symlink(outside, folder_.file("app/link.cu"));
    EXPECT_TRUE(
        lines_of(stack_of(source_frame("/link.cu", 1)), FilePlaces(folder_.path() / "app", {}))
            .empty());
}

TEST_F(SourceLines, AreCutAndFewEnoughForAPage)
{
    const std::string file = written("long.cu", std::string(1'000'000, 'x'));
    const Json found = lines_of(stack_of(source_frame(file, 1)));
    EXPECT_EQ(found.at(0).at("lines").at(0).get<std::string>(), std::string(200, 'x') + "…");

    std::string many;
    Json frames = Json::array();
    for (int line = 1; line <= 20'000; ++line) {
        many += std::string(100, 'y') + "\n";
        frames.push_back(source_frame(folder_.file("many.cu"), line));
    }
    written("many.cu", many);
    const Json all = lines_of({{"stack", frames}});
    EXPECT_EQ(all.at(0).at("lines").size(), 4000u);
}

} // namespace
} // namespace vramscope::report
