// tests/report/findings/workspaces_test.cpp — libraries whose own memory grows, a row for each.
#include <sstream>

#include <gtest/gtest.h>

#include "report/text/views.hpp"
#include "tests/report/findings/growth/growth_scene.hpp"

namespace vramscope::report {
namespace {

using test::GrowthScene;
using test::report_of;
using test::operator""_MiB;

constexpr std::uint64_t kFirstHandle = 11;
constexpr std::uint64_t kSecondHandle = 12;

// Two places of the program that ask cuBLAS for a handle.
GrowthScene scene_with_cublas()
{
    GrowthScene scene;
    scene.log.module(2, 0x600000, 0x600000, 0x700000, "/opt/libcublas.so.12", "blas");
    scene.log.stack(kFirstHandle, {0x601001, 0x401001});
    scene.log.stack(kSecondHandle, {0x601001, 0x402001});
    return scene;
}

std::string text_of(const Report& report)
{
    std::ostringstream out;
    write_report(out, report, TextStyle{});
    return out.str();
}

TEST(Workspaces, AreJoinedByLibraryAndHeadedByTheFastest)
{
    GrowthScene scene = scene_with_cublas();
    scene.steps(100, [&](std::size_t) {
        scene.take(kFirstHandle, 1_MiB);
        scene.take(kSecondHandle, 2_MiB);
        scene.take(1, 4_MiB); // the program's own
    });
    const Report report = report_of(scene.log);
    ASSERT_EQ(report.workspaces.size(), 1u);
    const Workspace& row = report.workspaces.front();
    EXPECT_EQ(row.library, "cuBLAS");
    EXPECT_EQ(row.stacks, 2u);
    EXPECT_EQ(row.rate.bytes_per_step, 2_MiB);
    EXPECT_EQ(row.blocks, test::growth_at(report, 1)->blocks * 2);
    EXPECT_EQ(row.bytes, row.blocks / 2 * 3_MiB);
    EXPECT_EQ(row.device, 0);
    EXPECT_EQ(row.own, 1u); // the program's frame, below the library's
    EXPECT_NE(text_of(report).find("cuBLAS on device 0: "), std::string::npos);
}

TEST(Workspaces, OfAHandleThatIsMadeOnceOrDestroyedDoNotGrow)
{
    GrowthScene scene = scene_with_cublas();
    scene.take(kFirstHandle, 8_MiB);
    scene.steps(100, [&](std::size_t) {
        scene.flash(kSecondHandle, 2_MiB);
        scene.take(1, 1_MiB); // it grows, and is of no library
    });
    const Report report = report_of(scene.log);
    EXPECT_FALSE(report.growth.empty());
    EXPECT_TRUE(report.workspaces.empty());
    EXPECT_EQ(text_of(report).find("Workspaces"), std::string::npos);
}

} // namespace
} // namespace vramscope::report
