// tests/report/replay/heap/sites_test.cpp — what each site has, and what a watch is told.
#include "report/replay/heap/sites.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/log/log_reader.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using format::Memory;
using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

// Counts only by what it is told.
struct Told : BlockWatch {
    std::map<SiteId, std::uint64_t> bytes;
    std::map<SiteId, std::uint64_t> blocks;
    std::vector<std::string> events;

    void born(const Block& block) override
    {
        bytes[block.site] += block.bytes;
        ++blocks[block.site];
        events.push_back("born");
    }
    void freed(const Block& block, std::uint64_t) override { leave(block, "freed"); }
    void gone(const Block& block, std::uint64_t) override { leave(block, "gone"); }
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t) override
    {
        for (const SiteLoss& loss : losses) {
            bytes[loss.site] -= loss.bytes;
            blocks[loss.site] -= loss.blocks;
        }
        events.push_back("context");
    }

private:
    void leave(const Block& block, const char* how)
    {
        bytes[block.site] -= block.bytes;
        --blocks[block.site];
        events.push_back(how);
    }
};

struct Replayed {
    std::vector<Site> sites;
    std::vector<std::string> phases; // the sites' phases, joined
    std::vector<std::string> told;
};

Replayed replay(const LogBuilder& log)
{
    const TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    LogTables tables;
    HeapReplay heap(tables, 0);
    Told told;
    heap.watch(told);
    while (const Record* const record = reader.next())
        heap.apply(*record);
    heap.finish();
    Replayed result{heap.sites().all(), {}, told.events};
    for (SiteId site = 0; site < result.sites.size(); ++site) {
        EXPECT_EQ(result.sites[site].live_bytes, told.bytes[site]) << "site " << site;
        EXPECT_EQ(result.sites[site].live_blocks, told.blocks[site]) << "site " << site;
        std::string path;
        for (const std::string& name : heap.phases().kind_path(result.sites[site].phase))
            path += "/" + name;
        result.phases.push_back(path);
    }
    return result;
}

using Words = std::vector<std::string>;

TEST(Sites, CountWhatAStackHasAndHasHad)
{
    const Replayed result = replay(LogBuilder()
                                       .alloc(0x1000, 1_MiB, 7)
                                       .alloc(0x2000, 2_MiB, 7)
                                       .alloc(0x3000, 4_MiB, 8)
                                       .free(0x1000));
    ASSERT_EQ(result.sites.size(), 2u);
    EXPECT_EQ(result.sites[0].live_bytes, 2_MiB);
    EXPECT_EQ(result.sites[0].live_blocks, 1u);
    EXPECT_EQ(result.sites[0].allocations, 2u);
    EXPECT_EQ(result.sites[0].allocated_bytes, 3_MiB);
    EXPECT_EQ(result.sites[0].frees, 1u);
    EXPECT_LT(result.sites[0].first_ticks, result.sites[0].last_ticks);
    EXPECT_EQ(result.sites[1].stack, 8u);
    EXPECT_EQ(result.told, (Words{"born", "born", "born", "freed"}));
}

TEST(Sites, StaySoWhereStacksAreFarApart)
{
    LogBuilder log;
    for (std::uint64_t at = 0; at < 30; ++at)
        log.alloc(0x1000 + at * 0x100, 1, 7 + at % 3 * 4096); // they share their recent site
    const Replayed result = replay(log);
    ASSERT_EQ(result.sites.size(), 3u);
    for (SiteId site = 0; site < 3; ++site) {
        EXPECT_EQ(result.sites[site].stack, 7 + site * 4096);
        EXPECT_EQ(result.sites[site].live_blocks, 10u);
    }
}

TEST(Sites, AreOfRangesThatDifferInTheirNumbersAlone)
{
    const Replayed result = replay(LogBuilder()
                                       .push("step 9")
                                       .alloc(0x1000, 1_KiB, 7)
                                       .pop()
                                       .push("step 10")
                                       .alloc(0x2000, 1_KiB, 7)
                                       .push("loss")
                                       .alloc(0x3000, 1_KiB, 7)
                                       .pop()
                                       .pop());
    EXPECT_EQ(result.phases, (Words{"/step #", "/step #/loss"}));
    EXPECT_EQ(result.sites[0].live_blocks, 2u);
}

TEST(Sites, LoseWithTheirContextWhatDiesWithIt)
{
    const Replayed result = replay(LogBuilder()
                                       .context(1)
                                       .place({.context = 1, .device = 0})
                                       .alloc(0x1000, 1_MiB, 7)
                                       .alloc(0x9000, 1_MiB, 8, "cuMemHostRegister_v2")
                                       .context_gone(1)
                                       .alloc(0x1000, 1_MiB, 7));
    ASSERT_EQ(result.sites.size(), 2u);
    EXPECT_EQ(result.sites[0].live_blocks, 1u) << "that of the context's next life";
    EXPECT_EQ(result.sites[0].allocations, 2u);
    EXPECT_EQ(result.sites[0].frees, 0u);
    EXPECT_EQ(result.sites[1].live_blocks, 1u) << "registered memory stays";
}

TEST(Sites, AreToldOfABlockWhoseFreeWasNotSeen)
{
    const Replayed result = replay(LogBuilder().alloc(0x1000, 1_MiB, 7).alloc(0x1000, 2_MiB, 8));
    EXPECT_EQ(result.told, (Words{"born", "gone", "born"}));
    EXPECT_EQ(result.sites[0].live_blocks, 0u);
    EXPECT_EQ(result.sites[0].frees, 0u);
}

TEST(Sites, LosePhysicalMemoryWithItsLastMapping)
{
    const Replayed result = replay(LogBuilder()
                                       .alloc(9, 2_MiB, 7, "cuMemCreate")
                                       .map(0x300000000, 2_MiB, 9)
                                       .free(9, "cuMemRelease")
                                       .unmap(0x300000000, 2_MiB));
    EXPECT_EQ(result.told, (Words{"born", "freed"}));
    EXPECT_EQ(result.sites[0].frees, 1u);
}

TEST(Sites, AreManyWithoutMixingUp)
{
    LogBuilder log;
    for (std::uint64_t stack = 0; stack < 5000; ++stack)
        log.alloc(0x1000 * (stack + 1), 256 * (stack + 1), stack);
    for (std::uint64_t stack = 0; stack < 5000; stack += 2)
        log.free(0x1000 * (stack + 1));
    const Replayed result = replay(log);
    ASSERT_EQ(result.sites.size(), 5000u);
    for (std::uint64_t stack = 0; stack < 5000; ++stack)
        ASSERT_EQ(result.sites[stack].live_bytes, stack % 2 == 0 ? 0 : 256 * (stack + 1));
}

} // namespace
} // namespace vramscope::report
