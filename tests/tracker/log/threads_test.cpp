// tests/tracker/log/threads_test.cpp — threads share chunks, and their records stay their own.
#include <barrier>
#include <map>
#include <pthread.h>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"
#include "tracker/lifecycle/lifecycle.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::hooked_alloc;
using test::hooked_free;
using test::RecordedLog;
using test::Recording;

namespace {

// The address of block `i` of thread `t`, numbered by its birth.
std::uint64_t address_of(std::uint64_t t, std::uint64_t i)
{
    return ((t << 20) + i + 1) * 256;
}

void alloc_as(std::uint64_t t, std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i)
        hooked_alloc(address_of(t, i), 256, {1, static_cast<std::int64_t>(t % 3), t, 0, false});
}

// Each thread wrote `count` blocks, in order, at the place that it said, and no other wrote as it.
void expect_events_of_each(const RecordedLog& log, std::uint64_t threads, std::uint64_t count)
{
    std::map<std::uint64_t, std::uint64_t> seen;         // blocks by the number in their address
    std::map<std::uint64_t, std::set<unsigned>> writers; // indexes by the number in their address
    for (const DecodedRecord& alloc : log.all(Tag::alloc)) {
        const std::uint64_t t = alloc.number("address") / 256 >> 20;
        ASSERT_EQ(alloc.number("address"), address_of(t, seen[t]++));
        ASSERT_EQ(alloc.place.stream, t);
        writers[t].insert(alloc.thread);
    }
    EXPECT_EQ(seen.size(), threads);
    std::set<unsigned> all;
    for (const auto& [t, indexes] : writers) {
        ASSERT_EQ(seen[t], count);
        ASSERT_EQ(indexes.size(), 1u);
        ASSERT_TRUE(all.insert(*indexes.begin()).second) << "two threads have one number";
    }
}

} // namespace

TEST(Threads, ThatFollowOneAnotherShareOneLane)
{
    constexpr std::uint64_t kThreads = 1000, kEvents = 10;
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t t = 0; t < kThreads; ++t)
            std::thread([t] { alloc_as(t, kEvents); }).join();
    });
    EXPECT_EQ(log.header.threads, kThreads);
    EXPECT_LE(log.chunks.size(), 5u); // each thread wrote some 150 bytes
    expect_events_of_each(log, kThreads, kEvents);
    std::set<std::uint32_t> lanes;
    for (const format::ChunkHeader& chunk : log.chunks) {
        EXPECT_EQ(chunk.ordinal, lanes.empty() ? 0u : chunk.index);
        lanes.insert(chunk.lane);
    }
    EXPECT_EQ(lanes.size(), 1u);
}

TEST(Threads, NeedAsManyLanesAsWereAliveAtOnce)
{
    constexpr std::uint64_t kRounds = 20, kAtOnce = 16, kEvents = 500;
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            std::barrier all_joined(kAtOnce);
            std::vector<std::thread> threads;
            for (std::uint64_t i = 0; i < kAtOnce; ++i)
                threads.emplace_back([&all_joined, t = round * kAtOnce + i] {
                    alloc_as(t, 1);
                    all_joined.arrive_and_wait();
                    for (std::uint64_t at = 1; at < kEvents; ++at)
                        hooked_alloc(address_of(t, at), 256,
                                     {1, static_cast<std::int64_t>(t % 3), t, 0, false});
                });
            for (std::thread& thread : threads)
                thread.join();
        }
    });
    expect_events_of_each(log, kRounds * kAtOnce, kEvents);
    std::map<std::uint32_t, std::uint32_t> chunks; // the next ordinal of each lane
    for (const format::ChunkHeader& chunk : log.chunks)
        EXPECT_EQ(chunk.ordinal, chunks[chunk.lane]++);
    EXPECT_EQ(chunks.size(), kAtOnce);
}

// One that fills chunk after chunk gets several at once.
TEST(Threads, ThatAreBusyLeaveTheChunksThatTheyDidNotBeginToTheNext)
{
    constexpr std::uint64_t kThreads = 8, kEvents = 45000;
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t t = 0; t < kThreads; ++t)
            std::thread([t] { alloc_as(t, kEvents); }).join();
    });
    expect_events_of_each(log, kThreads, kEvents);
    for (std::uint32_t at = 0; at < log.chunks.size(); ++at) {
        EXPECT_EQ(log.chunks[at].ordinal, at);
        EXPECT_EQ(log.chunks[at].index, at);
    }
    EXPECT_GT(log.chunks.size(), 20u);
    EXPECT_LT(log.header.chunks, log.chunks.size() + log::LogFile::kMostAtOnce);
}

TEST(Threads, HaveTheirNameInEachChunk)
{
    const RecordedLog log = Recording().run([] {
        std::thread([] { alloc_as(0, 1); }).join();
        std::thread([] {
            ::pthread_setname_np(::pthread_self(), "second");
            alloc_as(1, 60000);
        }).join();
    });
    EXPECT_GT(log.chunks.size(), 2u);
    const auto names = log.all(Tag::thread);
    ASSERT_EQ(names.size(), log.chunks.size() + 1);
    for (std::size_t at = 1; at < names.size(); ++at) {
        EXPECT_EQ(names[at].text("name"), "second");
        EXPECT_EQ(names[at].number("index"), 1u);
    }
}

// Its deltas may not be those of what it published.
TEST(Threads, ThatDieInsideAHookTakeTheirChunkWithThem)
{
    const RecordedLog log = Recording().run([] {
        std::thread([] {
            alloc_as(0, 5);
            log::this_thread.inside = log::Inside::recorder;
            log::this_thread.deltas.ticks += 1'000'000;
            ::pthread_exit(nullptr);
        }).join();
        std::thread([] { alloc_as(1, 5); }).join();
    });
    EXPECT_EQ(log.chunks.size(), 2u);
    EXPECT_EQ(log.chunks[1].lane, log.chunks[0].lane);
    expect_events_of_each(log, 2, 5);
}

// A thread that was cancelled ends at the program's next cancellation point, and not in a system
// call of the recorder, whose functions cannot be unwound.
TEST(Threads, AreNotCancelledInTheRecorder)
{
    const RecordedLog log = Recording().run([] {
        static bool recorded = false;
        pthread_t thread;
        const auto body = [](void*) -> void* {
            ::pthread_cancel(::pthread_self());
            alloc_as(0, 60000);
            recorded = true;
            ::pthread_testcancel();
            return nullptr;
        };
        ASSERT_EQ(::pthread_create(&thread, nullptr, body, nullptr), 0);
        void* result = nullptr;
        ASSERT_EQ(::pthread_join(thread, &result), 0);
        EXPECT_TRUE(recorded);
        EXPECT_EQ(result, PTHREAD_CANCELED);
    });
    EXPECT_GT(log.chunks.size(), 2u);
    expect_events_of_each(log, 1, 60000);
}

TEST(Threads, OfAForkedChildBeginTheirOwnLanes)
{
    const Recording recording;
    Recording named;
    named.setting("VRAMSCOPE_LOG", recording.dir().file("%p.vsl"));
    const pid_t parent = named.start([] {
        std::thread([] { alloc_as(0, 5); }).join(); // its lane waits
        EXPECT_EQ(test::wait_for(test::start_child([] { alloc_as(0, 5); })), 0);
        alloc_as(1, 5);
    });
    EXPECT_EQ(test::wait_for(parent), 0);
    ASSERT_EQ(recording.dir().names().size(), 2u);
    for (const std::string& name : recording.dir().names()) {
        const RecordedLog log = test::read_recorded_log(recording.dir().file(name));
        const bool is_parent = log.header.pid == static_cast<std::uint32_t>(parent);
        EXPECT_EQ(log.chunks.size(), 1u);
        expect_events_of_each(log, is_parent ? 2 : 1, 5);
    }
}
