// tests/tracker/log/recorder_test.cpp — the log says what one thread or eight recorded.
#include "tracker/log/recorder.hpp"

#include <csignal>
#include <map>
#include <numeric>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::hooked_alloc;
using test::hooked_free;
using test::RecordedLog;
using test::Recording;

namespace {

std::uint64_t lost(const RecordedLog& log)
{
    return std::accumulate(std::begin(log.header.lost), std::end(log.header.lost),
                           std::uint64_t{0});
}

} // namespace

TEST(Recorder, WritesEveryKindOfEventAsItWas)
{
    const RecordedLog log = Recording().run([] {
        const format::Place place{3, 1, 0x5500, 0x6600, true};
        hooked_alloc(0x7f0000000000, 4096, place);
        hooked_alloc(0x7f0000001040, 1001, place);
        hooked_free(0x7f0000000000);
        const test::InHook hook;
        log::Thread& thread = log::this_thread;
        const log::CallSite site{0, 0};
        log::write_with_stack(thread, site, 0, format::Failed{2, 0x123, std::uint64_t{1} << 40});
        log::write_with_stack(thread, site, 2, format::Map{0x300000000, 1 << 21, 77});
        log::write(thread, {123456, 2}, format::Unmap{0x300000000, 1 << 21});
        log::write(thread, {log::now(), 2}, format::Retain{77});
        log::write(thread, format::Context{3, 0xc0ffee, -1, true});
        log::write(thread, {123457, 2}, format::ContextGone{3, log::record_stack(thread, site)});
        log::write(thread, format::Device{1, 24ull << 30, "Sim"});
        log::write(thread, format::Info{"key", std::string(10000, 'v')});
    });
    const auto allocs = log.all(Tag::alloc);
    ASSERT_EQ(allocs.size(), 2u);
    EXPECT_EQ(allocs[0].number("address"), 0x7f0000000000u);
    EXPECT_EQ(allocs[0].number("bytes"), 4096u);
    EXPECT_EQ(allocs[1].number("address"), 0x7f0000001040u);
    EXPECT_EQ(allocs[1].number("bytes"), 1001u);
    EXPECT_EQ(allocs[1].place, (format::Place{3, 1, 0x5500, 0x6600, true}));
    EXPECT_EQ(log.count(Tag::place), 1u);
    EXPECT_GT(allocs[1].number("ticks"), allocs[0].number("ticks"));

    const auto one = [&](Tag tag) {
        const auto found = log.all(tag);
        EXPECT_EQ(found.size(), 1u) << static_cast<int>(tag);
        return found.at(0);
    };
    EXPECT_EQ(one(Tag::free).number("address"), 0x7f0000000000u);
    EXPECT_EQ(one(Tag::failed).number("result"), 2u);
    EXPECT_EQ(one(Tag::failed).number("bytes"), std::uint64_t{1} << 40);
    EXPECT_EQ(one(Tag::failed).number("stack"), 0u) << "the call site was not on the stack";
    EXPECT_EQ(one(Tag::map).number("handle"), 77u);
    EXPECT_EQ(one(Tag::unmap).number("ticks"), 123456u);
    EXPECT_EQ(one(Tag::retain).number("handle"), 77u);
    EXPECT_EQ(static_cast<std::int64_t>(one(Tag::context).number("device")), -1);
    EXPECT_EQ(one(Tag::context_gone).number("ticks"), 123457u);
    EXPECT_EQ(one(Tag::context_gone).number("stack"), 0u) << "the call site was not on the stack";
    EXPECT_EQ(one(Tag::device).text("name"), "Sim");
    EXPECT_EQ(log.info("key"), std::string(4096, 'v')) << "texts are cut at 4096 bytes";
    EXPECT_EQ(lost(log), 0u);
}

TEST(Recorder, LeavesAFreeThatTheDriverHasWhenTheProcessIsKilled)
{
    const Recording recording;
    const pid_t child = recording.start([] {
        hooked_alloc(0x1000, 256);
        hooked_free(0x1000);
        const test::InHook hook;
        format::Free event{.api = 1, .ticks = 0, .address = 0x2000, .stack = 0};
        log::begin_free(log::this_thread, event, VRAMSCOPE_TEST_CALL_SITE());
        ::raise(SIGKILL);
    });
    EXPECT_NE(test::wait_for(child), 0);
    const RecordedLog log = recording.log();
    ASSERT_EQ(log.chunks.size(), 1u);
    EXPECT_EQ(log.chunks[0].pending_api, 2u);
    EXPECT_EQ(log.chunks[0].pending_address, 0x2000u);
    EXPECT_GE(log.chunks[0].pending_ticks, log.all(Tag::free).at(0).number("ticks"));
    EXPECT_GT(log.frames_of(log.chunks[0].pending_stack).size(), 3u);
}

TEST(Recorder, LeavesNoPendingFreeOnceItIsWrittenOrRefused)
{
    const RecordedLog log = Recording().run([] {
        hooked_alloc(0x1000, 256);
        hooked_free(0x1000);
        const test::InHook hook;
        format::Free event{.api = 1, .ticks = 0, .address = 0x2000, .stack = 0};
        log::begin_free(log::this_thread, event, VRAMSCOPE_TEST_CALL_SITE());
        log::abandon_free(log::this_thread);
    });
    ASSERT_EQ(log.chunks.size(), 1u);
    EXPECT_EQ(log.chunks[0].pending_api, 0u);
    EXPECT_EQ(log.count(Tag::free), 1u);
}

TEST(Recorder, SaysWhatItRecordedAndHow)
{
    const Recording recording;
    const RecordedLog log = recording.run([] { hooked_alloc(256, 256); });
    EXPECT_EQ(log.header.major, format::kMajorVersion);
    EXPECT_EQ(log.header.parent_pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_NE(log.header.process_start, 0u);
    EXPECT_EQ(log.header.threads, 1u);
    EXPECT_GE(log.header.latest_ns, log.header.start_ns);
    EXPECT_EQ(log.header.end, format::End::unknown);
    EXPECT_EQ(log.info("program"), program_invocation_short_name);
    EXPECT_EQ(log.info("unwinder"), test::kTestUnwinder);
    EXPECT_EQ(log.info("stack_depth"), "64");
    EXPECT_EQ(log.info("exe").substr(0, 1), "/");
    const auto apis = log.all(Tag::api);
    ASSERT_EQ(apis.size(), std::size(test::kTestApis));
    for (std::size_t id = 0; id < apis.size(); ++id) {
        EXPECT_EQ(apis[id].number("id"), id);
        EXPECT_EQ(apis[id].text("name"), test::kTestApis[id].name);
        EXPECT_EQ(apis[id].number("effect"),
                  static_cast<std::uint64_t>(test::kTestApis[id].effect));
    }
}

TEST(Recorder, KeepsAllEventsOfEightThreadsOverManyChunks)
{
    constexpr std::uint64_t kThreads = 8, kEvents = 40000;
    const RecordedLog log = Recording().run([] {
        std::vector<std::thread> threads;
        for (std::uint64_t t = 0; t < kThreads; ++t)
            threads.emplace_back([t] {
                for (std::uint64_t i = 0; i < kEvents; ++i) {
                    const std::uint64_t address = (t << 40) + (i + 1) * 256;
                    hooked_alloc(address, i + 1,
                                 {1, static_cast<std::int64_t>(t), i / 1000, 0, false});
                    if (i % 2)
                        hooked_free(address);
                }
            });
        for (std::thread& thread : threads)
            thread.join();
    });
    EXPECT_EQ(lost(log), 0u);
    EXPECT_EQ(log.header.threads, kThreads);
    EXPECT_GT(log.chunks.size(), 2 * kThreads);
    std::map<std::uint32_t, std::uint64_t> next_ordinal, next_bytes, ticks, frees;
    for (const auto& chunk : log.chunks)
        EXPECT_EQ(chunk.ordinal, next_ordinal[chunk.lane]++);
    for (const DecodedRecord& record : log.records) {
        if (record.tag() == Tag::free)
            ++frees[record.thread];
        if (record.tag() != Tag::alloc)
            continue;
        const std::uint64_t bytes = record.number("bytes");
        ASSERT_EQ(bytes, ++next_bytes[record.thread]);
        const auto t = static_cast<std::uint64_t>(record.place.device);
        ASSERT_EQ(record.number("address"), (t << 40) + bytes * 256);
        ASSERT_EQ(record.place.stream, (bytes - 1) / 1000);
        ASSERT_GE(record.number("ticks"), ticks[record.thread]);
        ticks[record.thread] = record.number("ticks");
    }
    EXPECT_EQ(next_bytes.size(), kThreads);
    for (const auto& [thread, bytes] : next_bytes) {
        EXPECT_EQ(bytes, kEvents);
        EXPECT_EQ(frees[thread], kEvents / 2);
    }
}

TEST(Recorder, WritesThePlaceAgainInEveryChunk)
{
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t i = 1; i <= 40000; ++i)
            hooked_alloc(i << 20, i, {5, 0, 7, 0, false});
    });
    ASSERT_GT(log.chunks.size(), 1u);
    EXPECT_EQ(log.count(Tag::place), log.chunks.size());
    for (const DecodedRecord& alloc : log.all(Tag::alloc))
        ASSERT_EQ(alloc.place, (format::Place{5, 0, 7, 0, false}));
}
