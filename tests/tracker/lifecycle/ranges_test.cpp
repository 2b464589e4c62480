// tests/tracker/lifecycle/ranges_test.cpp — ranges and marks, before there is a log and in it.
#include "tracker/lifecycle/ranges.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::hooked_alloc;
using test::RecordedLog;
using test::Recording;

TEST(Ranges, OpenedBeforeTheLogAreInIt)
{
    const RecordedLog log = Recording().run([] {
        log::push_range("outer");
        log::push_range("closed");
        log::pop_range();
        log::push_range("");
        log::mark("no log yet: dropped");
        hooked_alloc(256, 256);
        log::mark("seen");
        log::pop_range();
        log::push_range("later");
    });
    const auto pushes = log.all(Tag::range_push);
    ASSERT_EQ(pushes.size(), 3u);
    EXPECT_EQ(pushes[0].text("name"), "outer");
    EXPECT_EQ(pushes[1].text("name"), "");
    EXPECT_EQ(pushes[2].text("name"), "later");
    EXPECT_EQ(log.count(Tag::range_pop), 1u);
    ASSERT_EQ(log.count(Tag::mark), 1u);
    EXPECT_EQ(log.all(Tag::mark)[0].text("name"), "seen");
}

TEST(Ranges, OfAThreadThatAllocatesNothingAreInALogThatIsThere)
{
    const RecordedLog log = Recording().run([] {
        hooked_alloc(256, 256);
        std::thread([] {
            for (int step = 0; step < 3; ++step) {
                log::push_range("step");
                log::pop_range();
            }
        }).join();
    });
    EXPECT_EQ(log.count(Tag::range_push), 3u);
    EXPECT_EQ(log.count(Tag::range_pop), 3u);
}

TEST(Ranges, AloneMakeNoLog)
{
    const Recording recording;
    EXPECT_EQ(test::wait_for(recording.start([] {
                  for (int i = 0; i < 1000; ++i) {
                      log::push_range("step");
                      log::mark("step");
                      log::pop_range();
                  }
                  log::pop_range();
              })),
              0);
    EXPECT_TRUE(recording.dir().names().empty());
}

TEST(Ranges, KeepTheirDepthWhereTheirNamesFindNoRoom)
{
    const std::string name(300, 'n');
    const RecordedLog log = Recording().run([&] {
        for (int i = 0; i < 50; ++i)
            log::push_range(name);
        for (int i = 0; i < 10; ++i)
            log::pop_range();
        hooked_alloc(256, 256);
    });
    const auto pushes = log.all(Tag::range_push);
    EXPECT_EQ(pushes.size(), 40u);
    EXPECT_EQ(pushes.front().text("name"), name.substr(0, 255));
    EXPECT_EQ(pushes.back().text("name"), "…");
}

TEST(Ranges, OfThreadsThatEndBeforeTheLogTakeNoMemory)
{
    const auto pages_after_threads = [](int threads) {
        for (int i = 0; i < threads; ++i)
            std::thread([] { log::push_range("never closed"); }).join();
        long pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        return pages;
    };
    const Recording recording;
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  const long before = pages_after_threads(1);
                  std::_Exit(pages_after_threads(1000) - before < 100 ? 0 : 1);
              })),
              0);
}

TEST(Ranges, OfAnotherThreadBelongToIt)
{
    const RecordedLog log = Recording().run([] {
        hooked_alloc(256, 256);
        log::push_range("main");
        std::thread([] {
            log::push_range("worker");
            hooked_alloc(512, 256);
        }).join();
    });
    std::map<std::string, std::uint32_t> threads;
    for (const DecodedRecord& push : log.all(Tag::range_push))
        threads[push.text("name")] = push.thread;
    EXPECT_EQ(threads, (std::map<std::string, std::uint32_t>{{"main", 0}, {"worker", 1}}));
}
