// tests/report/replay/replay_property_test.cpp — reports of random programs match a plain count.
//
// A log that was cut is never called clean. A failure names its seed; the program of a seed is
// always the same.
#include <gtest/gtest.h>

#include "report/findings/make_report.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/recount.hpp"
#include "tests/support/replay.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::Held;
using test::Layout;
using test::LogBuilder;
using test::Place;
using test::random_program;
using test::Recount;
using test::recount;
using test::replay;
using test::report_of;
using test::Step;
using test::TempFile;
using test::written;

constexpr std::uint32_t kSeeds = 40;

// The rows that a reader sees, by what the recount knows of them.
std::map<Place, Held> rows_of(const Report& report)
{
    std::map<Place, Held> rows;
    for (const std::vector<Leak>* const list :
         {&report.leaks, &report.imports, &report.graph_memory})
        for (const Leak& leak : *list) {
            const std::uint64_t stack = leak.stack.empty() ? 0 : leak.stack.front().offset >> 12;
            Held& held = rows[{name(leak.kind), leak.memory, leak.device, leak.entry_point, stack}];
            held.bytes += leak.bytes;
            held.blocks += leak.blocks;
        }
    return rows;
}

void expect_same(const Report& report, const Recount& plain)
{
    const Totals& totals = report.totals;
    EXPECT_EQ(totals.allocations, plain.memory_allocations);
    EXPECT_EQ(totals.frees, plain.memory_frees);
    EXPECT_EQ(totals.allocated_bytes, plain.allocated_bytes);
    EXPECT_EQ(totals.peak_device_bytes, plain.peak_device_bytes);
    EXPECT_EQ(totals.peak_host_bytes, plain.peak_host_bytes);
    EXPECT_EQ(totals.reserved_address_bytes, plain.reservations.bytes);
    EXPECT_EQ(totals.address_reservations, plain.reservations.blocks);
    EXPECT_EQ(report.coverage.events, plain.events + 1); // the module
    EXPECT_EQ(report.coverage.allocations, plain.allocations);
    EXPECT_EQ(report.coverage.frees, plain.frees);
    EXPECT_EQ(report.coverage.unmatched_frees, plain.unmatched_frees);
    EXPECT_EQ(report.coverage.missed_frees, plain.missed_frees);
    EXPECT_EQ(report.coverage.graph_allocations, plain.graph_allocations);
    Held leaked;
    for (const auto& [place, held] : plain.lost)
        if (place.kind != "unclosed-import" && place.kind != "graph-owned") {
            leaked.bytes += held.bytes;
            leaked.blocks += held.blocks;
        }
    EXPECT_EQ(totals.leaked_bytes, leaked.bytes);
    EXPECT_EQ(totals.leaked_blocks, leaked.blocks);
    EXPECT_TRUE(rows_of(report) == plain.lost) << "the rows are others";
    EXPECT_EQ(report.verdict, plain.missed_frees > 0 ? Verdict::inconclusive : Verdict::leaks);
}

TEST(ReplayProperty, TotalsAndRowsAreThoseOfAPlainCount)
{
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::vector<Step> steps = random_program(seed, {.steps = 400});
        LogBuilder log = written(steps, {.chunk_bytes = 4096});
        const std::uint64_t exit_began = seed % 2 == 0 ? steps[steps.size() * 3 / 4].ticks : 0;
        log.header().exit_began_ticks = exit_began;
        expect_same(report_of(log), recount(steps, exit_began));
        if (HasFailure())
            return;
    }
}

// What the sites, the blocks and the pool's counters say at one moment.
struct Moment {
    std::uint64_t ticks = 0;
    std::uint64_t device_bytes = 0;
    std::uint64_t host_bytes = 0;
    std::uint64_t site_bytes = 0;
    std::uint64_t block_bytes = 0;
    std::map<std::int64_t, test::DeviceSums> pool;
};

Moment moment_of(std::uint64_t ticks, HeapReplay& heap, const SegmentReplay& segments)
{
    Moment now;
    now.ticks = ticks;
    for (const Site& site : heap.sites().all()) {
        if (!is_own_memory(site.memory))
            continue;
        now.site_bytes += site.live_bytes;
        (class_of(site.memory) == format::MemoryClass::device ? now.device_bytes
                                                              : now.host_bytes) += site.live_bytes;
    }
    heap.for_each_alive([&](const Block& block) { now.block_bytes += block.bytes; });
    for (const DevicePool& device : segments.devices()) {
        const PoolStats& stats = device.stats;
        test::DeviceSums& sums = now.pool[device.device];
        sums.reserved = stats.reserved_bytes.all.current;
        sums.reserved_peak = stats.reserved_bytes.all.peak;
        sums.allocated = stats.allocated_bytes.all.current;
        sums.allocated_peak = stats.allocated_bytes.all.peak;
        sums.requested = stats.requested_bytes.all.current;
        sums.pending = stats.active_bytes.all.current - stats.allocated_bytes.all.current;
        sums.stuck = stats.inactive_split_bytes.all.current;
        sums.releasable = sums.reserved - stats.active_bytes.all.current - sums.stuck;
    }
    return now;
}

TEST(ReplayProperty, EveryMomentIsThatOfAPlainCount)
{
    for (std::uint32_t seed = 1; seed <= kSeeds / 4; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        // In the order of time, so that each prefix of the list is a moment.
        const std::vector<Step> steps = random_program(seed, {.late_frees = false});
        std::size_t done = 0;
        replay(written(steps), [&](const Record& record, test::Replayed& replayed) {
            if (!record.timed || record.ticks < steps.front().ticks || HasFatalFailure())
                return;
            ++done;
            const Moment now = moment_of(record.ticks, replayed.heap, replayed.segments);
            const Recount plain = recount({steps.begin(), steps.begin() + done});
            ASSERT_EQ(now.ticks, steps[done - 1].ticks);
            ASSERT_EQ(now.device_bytes, plain.device_bytes) << "step " << done;
            ASSERT_EQ(now.host_bytes, plain.host_bytes) << "step " << done;
            ASSERT_EQ(now.site_bytes, now.block_bytes) << "step " << done;
            ASSERT_TRUE(now.pool == plain.pool) << "step " << done;
        });
        ASSERT_FALSE(HasFatalFailure());
        ASSERT_EQ(done, steps.size());
    }
}

TEST(ReplayProperty, ALogThatIsCutIsNeverClean)
{
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        const std::vector<Step> steps =
            random_program(seed, {.steps = 120, .missing_frees = false});
        const LogBuilder log = written(steps, {.chunk_bytes = 1024});
        TempFile file(log.build());
        ASSERT_NE(make_report({file.path()}).verdict, Verdict::inconclusive);
        const std::size_t size = log.chunk_offset(log.chunks());
        for (std::size_t bytes = size - 1; bytes > format::kHeaderBytes; bytes -= 37) {
            file.resize(bytes);
            ASSERT_EQ(make_report({file.path()}).verdict, Verdict::inconclusive)
                << "seed " << seed << ", cut at " << bytes;
            if (bytes < format::kHeaderBytes + 37)
                break;
        }
    }
}

// Killed at any moment: what was written by then is whole, but no end was written down.
TEST(ReplayProperty, AProgramThatIsKilledIsNeverClean)
{
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        const std::vector<Step> steps = random_program(seed, {.steps = 60});
        for (std::size_t done = 0; done <= steps.size(); ++done) {
            const std::vector<Step> first(steps.begin(), steps.begin() + done);
            LogBuilder log = written(first);
            log.header().end = format::End::unknown;
            const Report report = report_of(log);
            ASSERT_EQ(report.verdict, Verdict::inconclusive) << "seed " << seed << ", " << done;
            ASSERT_FALSE(report.reasons.empty());
        }
    }
}

} // namespace
} // namespace vramscope::report
