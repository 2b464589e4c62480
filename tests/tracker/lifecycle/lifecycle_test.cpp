// tests/tracker/lifecycle/lifecycle_test.cpp — what a log holds after forks, kills and ends.
#include "tracker/lifecycle/lifecycle.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Tag;
using test::addresses_in;
using test::alloc_many;
using test::content_of;
using test::DecodedRecord;
using test::hooked_alloc;
using test::hooked_free;
using test::multiples_of_256;
using test::RecordedLog;
using test::Recording;

// ---- fork ----

TEST(Fork, GivesAChildThatRecordsALogOfItsOwn)
{
    const Recording recording;
    Recording named;
    named.setting("VRAMSCOPE_LOG", recording.dir().file("%p.vsl"));
    const pid_t parent = named.start([] {
        alloc_many(1, 100);
        const pid_t child = test::start_child([] {
            EXPECT_EQ(log::process->generation, 0u) << "the parent's log is open in the child";
            alloc_many(1000, 5000);
        });
        EXPECT_EQ(test::wait_for(child), 0);
        alloc_many(101, 100);
    });
    EXPECT_EQ(test::wait_for(parent), 0);
    ASSERT_EQ(recording.dir().names().size(), 2u);
    for (const std::string& name : recording.dir().names()) {
        const RecordedLog log = test::read_recorded_log(recording.dir().file(name));
        EXPECT_EQ(name, std::to_string(log.header.pid) + ".vsl");
        const bool is_parent = log.header.pid == static_cast<std::uint32_t>(parent);
        EXPECT_EQ(addresses_in(log),
                  is_parent ? multiples_of_256(1, 200) : multiples_of_256(1000, 5000));
        if (!is_parent) {
            EXPECT_EQ(log.header.parent_pid, static_cast<std::uint32_t>(parent));
        }
        EXPECT_EQ(log.all(Tag::api).size(), std::size(test::kTestApis));
        EXPECT_GT(log.count(Tag::module_loaded), 2u);
        for (const DecodedRecord& alloc : log.all(Tag::alloc))
            ASSERT_FALSE(log.frames_of(alloc.number("stack")).empty());
    }
}

TEST(Fork, LeavesTheParentsLogToTheParent)
{
    const Recording recording;
    const RecordedLog log = recording.run([&] {
        alloc_many(1, 100);
        const std::string before = content_of(recording.path());
        EXPECT_EQ(test::wait_for(test::start_child([&] {
                      recording.catch_stderr(); // it says that its log has another name
                      for (int i = 0; i < 3000; ++i) {
                          log::push_range("child");
                          log::pop_range();
                          log::mark("child");
                      }
                      alloc_many(1000, 5000);
                      log::exit_began(7);
                      log::ended(format::End::underscore_exit, 7);
                  })),
                  0);
        EXPECT_TRUE(content_of(recording.path()) == before) << "the child changed its parent's log";
    });
    EXPECT_EQ(addresses_in(log), multiples_of_256(1, 100));
    EXPECT_EQ(log.header.end, format::End::unknown);
}

TEST(Fork, OfAChildThatRecordsNothingMakesNoLog)
{
    const Recording recording;
    recording.run([] {
        alloc_many(1, 10);
        EXPECT_EQ(test::wait_for(test::start_child([] { log::push_range("only a range"); })), 0);
    });
    EXPECT_EQ(recording.dir().names().size(), 1u);
}

TEST(Fork, FromAThreadAndInGenerations)
{
    const Recording recording;
    Recording named;
    named.setting("VRAMSCOPE_LOG", recording.dir().file("%p.vsl"));
    EXPECT_EQ(test::wait_for(named.start([] {
                  alloc_many(1, 10);
                  std::thread([] {
                      alloc_many(11, 10);
                      EXPECT_EQ(test::wait_for(test::start_child([] {
                                    alloc_many(21, 3000);
                                    EXPECT_EQ(test::wait_for(test::start_child(
                                                  [] { alloc_many(4000, 3000); })),
                                              0);
                                })),
                                0);
                  }).join();
              })),
              0);
    std::vector<std::size_t> counts;
    for (const std::string& name : recording.dir().names()) {
        const RecordedLog log = test::read_recorded_log(recording.dir().file(name));
        counts.push_back(log.count(Tag::alloc));
        EXPECT_EQ(log.header.verify_mismatches, 0u);
        for (const DecodedRecord& alloc : log.all(Tag::alloc))
            ASSERT_FALSE(log.frames_of(alloc.number("stack")).empty());
    }
    std::sort(counts.begin(), counts.end());
    EXPECT_EQ(counts, (std::vector<std::size_t>{20, 3000, 3000}));
}

// ---- SIGKILL ----

namespace {

// The child writes how many events it has recorded; the parent kills it at some moment, and then
// compares the numbers.
void kill_in_mid_run(std::uint64_t events_before_kill, std::size_t threads)
{
    const Recording recording;
    int progress[2];
    ASSERT_EQ(::pipe(progress), 0);
    const pid_t child = recording.start([&] {
        std::vector<std::thread> workers;
        for (std::size_t t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
                for (std::uint64_t i = 1;; ++i) {
                    hooked_alloc((t << 40) + i * 256, i);
                    hooked_free((t << 40) + i * 256);
                    const std::uint64_t report[2] = {t, i};
                    if (i % 50 == 0 && ::write(progress[1], report, sizeof report) < 0)
                        return;
                }
            });
        for (std::thread& worker : workers)
            worker.join();
    });
    ::close(progress[1]);
    std::map<std::uint64_t, std::uint64_t> reported;
    std::uint64_t report[2], total = 0;
    while ((total < events_before_kill || reported.size() < threads) &&
           ::read(progress[0], report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
        reported[report[0]] = report[1];
        total += 50;
    }
    ::kill(child, SIGKILL);
    while (::read(progress[0], report, sizeof report) == static_cast<ssize_t>(sizeof report))
        reported[report[0]] = report[1];
    ::close(progress[0]);
    const int status = test::wait_for(child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    const RecordedLog log = recording.log();
    EXPECT_EQ(log.header.end, format::End::unknown);
    std::map<std::uint64_t, std::uint64_t> allocs, frees;
    for (const DecodedRecord& record : log.records) {
        if (record.tag() == Tag::alloc) {
            const std::uint64_t t = record.number("address") >> 40;
            ASSERT_EQ(record.number("bytes"), ++allocs[t]) << "an event is missing in between";
            ASSERT_FALSE(log.frames_of(record.number("stack")).empty());
        } else if (record.tag() == Tag::free) {
            ++frees[record.number("address") >> 40];
        }
    }
    EXPECT_EQ(reported.size(), threads);
    for (const auto& [t, events] : reported) {
        EXPECT_GE(allocs[t], events);
        EXPECT_GE(frees[t], events);
        EXPECT_LE(allocs[t], frees[t] + 1);
    }
}

} // namespace

TEST(Kill, LosesNoEventThatWasRecorded)
{
    kill_in_mid_run(30000, 1);
}

TEST(Kill, LosesNoEventOfAnyThread)
{
    kill_in_mid_run(30000, 4);
}

TEST(Kill, AtAnyEarlyMomentLosesNothing)
{
    for (std::uint64_t events = 50; events <= 500; events += 50)
        kill_in_mid_run(events, 1);
}

// ---- ends ----

TEST(End, SaysHowTheProcessEnded)
{
    struct Case {
        format::End how;
        std::int32_t status;
        bool exit_began;
    };
    for (const Case& expected : {Case{format::End::exit, 3, true},
                                 {format::End::underscore_exit, 4, false},
                                 {format::End::quick_exit, 0, false}}) {
        const RecordedLog log = Recording().run([&] {
            alloc_many(1, 10);
            if (expected.exit_began)
                log::exit_began(expected.status);
            log::ended(expected.how, expected.status);
        });
        EXPECT_EQ(log.header.end, expected.how);
        EXPECT_EQ(log.header.end_status, expected.status);
        EXPECT_EQ(log.header.exit_began_ticks != 0, expected.exit_began);
    }
}

TEST(End, ByExitIsSeenThroughItsHandler)
{
    const Recording recording;
    const pid_t child = recording.start([] {
        // Runs after the recorder's handler, and before LeakSanitizer's, which crashed in a fork of
        // this process on Debian 12.
        std::atexit([] { ::_exit(42); });
        alloc_many(1, 10);
        std::exit(42);
    });
    const int status = test::wait_for(child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    const RecordedLog log = recording.log();
    EXPECT_NE(log.header.exit_began_ticks, 0u);
    EXPECT_EQ(log.header.end_status, 42);
}

TEST(End, WithoutALogChangesNothing)
{
    test::run_in_child([] {
        log::exit_began(1);
        log::ended(format::End::underscore_exit, 1);
    });
}
