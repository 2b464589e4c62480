// tests/report/symbols/file_places_test.cpp — a container's files, with links in and out of it.
#include "report/symbols/file_places.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/report/symbols/fixture_file.hpp"

namespace vramscope::report {
namespace {

namespace fs = std::filesystem;

TEST(FilePlaces, LeaveAPathAsItIsWithoutASysrootOrAMap)
{
    EXPECT_EQ(FilePlaces().of("/opt/app/train"), "/opt/app/train");
    EXPECT_EQ(FilePlaces().confined("/opt/app/train"), "/opt/app/train");
}

TEST(FilePlaces, AMapCountsForAFileAndForAFolderWithAllThatIsBelow)
{
    const FilePlaces places({}, {{"/app", "/home/me/app"}, {"/usr/bin/python3.11", "python"}});
    EXPECT_EQ(places.of("/app"), "/home/me/app");
    EXPECT_EQ(places.of("/app/lib/a.so"), "/home/me/app/lib/a.so");
    EXPECT_EQ(places.of("/usr/bin/python3.11"), "python");
}

TEST(FilePlaces, AMapIsNoPrefixOfLetters)
{
    const FilePlaces places({}, {{"/app", "/home/me/app"}});
    EXPECT_EQ(places.of("/apple/lib/a.so"), "/apple/lib/a.so");
    EXPECT_EQ(places.of("/opt/app"), "/opt/app");
}

TEST(FilePlaces, TheLongestMapCountsInWhateverOrder)
{
    for (const bool turned : {false, true}) {
        std::vector<PathMap> maps{{"/app", "/a"}, {"/app/lib/", "/b"}};
        if (turned)
            std::swap(maps[0], maps[1]);
        const FilePlaces places({}, maps);
        EXPECT_EQ(places.of("/app/lib/x.so"), "/b/x.so");
        EXPECT_EQ(places.of("/app/bin/x"), "/a/bin/x");
    }
}

TEST(FilePlaces, AMapOfTheRootCountsForAll)
{
    EXPECT_EQ(FilePlaces({}, {{"/", "/srv/tree"}}).of("/usr/lib/a.so"), "/srv/tree/usr/lib/a.so");
}

// A root with a file in it, and links.
class Sysroot : public testing::Test {
protected:
    Sysroot()
    {
        fs::create_directories(root_ / "usr/lib");
        std::ofstream(root_ / "usr/lib/a.so.1") << "a";
    }
    void link(const std::string& name, const std::string& target)
    {
        fs::create_directories((root_ / name).parent_path());
        fs::create_symlink(target, root_ / name);
    }
    std::string of(const std::string& path, const std::string& sysroot)
    {
        return FilePlaces(sysroot, {}).of(path).string();
    }
    std::string of(const std::string& path) { return of(path, root_.path().string()); }
    std::string in(const std::string& name) { return (root_ / name).string(); }

    TempDir root_;
};

TEST_F(Sysroot, HasAllPathsBelowItBeThereAFileOrNot)
{
    EXPECT_EQ(of("/usr/lib/a.so.1"), in("usr/lib/a.so.1"));
    EXPECT_EQ(of("/usr/lib/a.so.1", root_.path().string() + "/"), in("usr/lib/a.so.1"));
    EXPECT_EQ(of("/nowhere/b.so"), in("nowhere/b.so"));
    EXPECT_EQ(of("/usr/lib/a.so.1", "/"), "/usr/lib/a.so.1");
}

TEST_F(Sysroot, FollowsALinkAsTheProgramDid)
{
    link("usr/lib/a.so", "a.so.1");
    link("lib", "usr/lib");
    link("opt/app/libs", "/lib");
    EXPECT_EQ(of("/lib/a.so"), in("usr/lib/a.so.1"));
    EXPECT_EQ(of("/opt/app/libs/a.so"), in("usr/lib/a.so.1"));
}

TEST_F(Sysroot, IsNeverLeft)
{
    link("absolute", "/etc/passwd");
    link("upwards", "../../../../../../etc/passwd");
    link("folder", "/etc");
    for (const char* const path :
         {"/absolute", "/upwards", "/folder/passwd", "/../../etc/passwd", "/usr/../../etc/passwd"})
        EXPECT_EQ(of(path), in("etc/passwd")) << path;
    EXPECT_EQ(of("/folder/../usr/lib/a.so.1"), in("usr/lib/a.so.1"));
}

TEST_F(Sysroot, GivesUpOnLinksWithoutAnEnd)
{
    link("round", "/round");
    EXPECT_EQ(of("/round"), "");
}

TEST_F(Sysroot, MayBeALinkItself)
{
    const TempDir elsewhere;
    fs::create_directory_symlink(root_.path(), elsewhere / "root");
    EXPECT_EQ(of("/usr/lib/a.so.1", (elsewhere / "root").string()),
              (elsewhere / "root").string() + "/usr/lib/a.so.1");
}

TEST_F(Sysroot, IsNotForWhatAMapNames)
{
    const FilePlaces places(root_.path(), {{"/app", "/home/me/app"}});
    EXPECT_EQ(places.of("/app/train"), "/home/me/app/train");
    EXPECT_EQ(places.of("/usr/lib/a.so.1"), in("usr/lib/a.so.1"));
}

TEST_F(Sysroot, CompletesItsFilesByNothingOutside)
{
    link("out", "/proc/self/exe");
    link("usr/lib/a.so", "a.so.1");
    const FilePlaces places(root_.path(), {});
    const fs::path file = root_ / "usr/lib/b.so";
    EXPECT_TRUE(places.may_refer(file, root_ / "usr/lib/a.so"));
    EXPECT_FALSE(places.may_refer(file, root_ / "out"));
    EXPECT_FALSE(places.may_refer(file, "/proc/self/exe"));
    EXPECT_FALSE(places.may_refer(file, root_ / "nowhere"));
    EXPECT_TRUE(places.may_refer("/usr/lib/b.so", "/proc/self/exe"));
    EXPECT_TRUE(FilePlaces().may_refer(file, "/proc/self/exe"));
}

TEST_F(Sysroot, IsNotLeftByAPathOfThisMachineThatBeginsInIt)
{
    link("usr/lib/debug", "/nowhere");
    const FilePlaces places(root_.path(), {{"/app", root_ / "usr/lib/debug"}});
    EXPECT_EQ(places.confined(root_ / "usr/lib/debug/x"), in("nowhere/x"));
    EXPECT_EQ(places.of("/app/x"), in("nowhere/x"));
    EXPECT_EQ(places.confined("/usr/lib/debug/x"), "/usr/lib/debug/x");
}

} // namespace
} // namespace vramscope::report
