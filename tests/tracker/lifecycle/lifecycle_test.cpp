// tests/tracker/lifecycle/lifecycle_test.cpp — what a log holds after forks, kills and full disks.
#include "tracker/lifecycle/lifecycle.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Lost;
using format::Tag;
using test::DecodedRecord;
using test::hooked_alloc;
using test::hooked_free;
using test::RecordedLog;
using test::Recording;

namespace {

std::uint64_t lost(const RecordedLog& log, Lost reason)
{
    return log.header.lost[static_cast<std::size_t>(reason)];
}

std::string content_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::uint64_t> addresses_in(const RecordedLog& log)
{
    std::vector<std::uint64_t> addresses;
    for (const DecodedRecord& alloc : log.all(Tag::alloc))
        addresses.push_back(alloc.number("address"));
    return addresses;
}

std::vector<std::uint64_t> multiples_of_256(std::uint64_t first, std::uint64_t count)
{
    std::vector<std::uint64_t> addresses(count);
    for (std::uint64_t i = 0; i < count; ++i)
        addresses[i] = (first + i) * 256;
    return addresses;
}

void alloc_many(std::uint64_t first, std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i)
        hooked_alloc((first + i) * 256, 256);
}

void limit_file_size(std::uint64_t bytes)
{
    const rlimit limit{bytes, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

constexpr std::uint64_t kChunk = format::kChunkBytes;

// The child's stderr goes to this file of the recording.
void catch_stderr(const Recording& recording)
{
    const int file = ::open(recording.dir().file("stderr").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
}

std::size_t lines_in(const std::string& text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

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
                      catch_stderr(recording); // it says that its log has another name
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

// ---- disks, limits, descriptors ----

TEST(FullDisk, CostsEventsThatAreCountedAndToldOnce)
{
    constexpr std::uint64_t kEvents = 100000;
    const Recording recording;
    const RecordedLog log = recording.run([&] {
        catch_stderr(recording);
        limit_file_size(format::kHeaderBytes + 2 * kChunk);
        alloc_many(1, kEvents);
    });
    EXPECT_EQ(log.chunks.size(), 2u);
    const std::size_t kept = log.count(Tag::alloc);
    EXPECT_GT(kept, 5000u);
    EXPECT_EQ(kept + lost(log, Lost::no_space), kEvents);
    EXPECT_EQ(addresses_in(log), multiples_of_256(1, kept));
    const std::string told = content_of(recording.dir().file("stderr"));
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find(recording.path()), told.npos);
    EXPECT_NE(told.find("File too large"), told.npos) << told;
}

TEST(FullDisk, IsForgottenOnceThereIsRoomAgain)
{
    constexpr std::uint64_t kEvents = 60000;
    const RecordedLog log = Recording().run([] {
        const int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, STDERR_FILENO);
        limit_file_size(format::kHeaderBytes + kChunk);
        alloc_many(1,
                   kEvents); // and another line below, whose stack is new when there is room again
        limit_file_size(std::uint64_t{1} << 30);
        alloc_many(kEvents + 1, kEvents);
    });
    EXPECT_EQ(log.count(Tag::alloc) + lost(log, Lost::no_space), 2 * kEvents);
    const auto addresses = addresses_in(log);
    EXPECT_EQ(addresses.back(), 2 * kEvents * 256);
    for (const DecodedRecord& alloc : log.all(Tag::alloc))
        ASSERT_FALSE(log.frames_of(alloc.number("stack")).empty()) << "an event without its stack";
    EXPECT_GT(std::count_if(addresses.begin(), addresses.end(),
                            [](std::uint64_t a) { return a > kEvents * 256; }),
              static_cast<std::ptrdiff_t>(kEvents - 2000));
}

TEST(FullDisk, IsNoHarmWhereNobodyCanBeTold)
{
    int without_reader[2];
    ASSERT_EQ(::pipe(without_reader), 0);
    ::close(without_reader[0]);
    const test::TempDir dir;
    const std::uint64_t limit = format::kHeaderBytes + kChunk;
    const int at_its_limit = ::open(dir.file("stderr").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_EQ(::lseek(at_its_limit, static_cast<off_t>(limit), SEEK_SET),
              static_cast<off_t>(limit));
    for (const int descriptor : {without_reader[1], at_its_limit}) {
        const RecordedLog log = Recording().run([&] {
            ::dup2(descriptor, STDERR_FILENO);
            limit_file_size(limit);
            alloc_many(1, 40000);
        });
        EXPECT_GT(lost(log, Lost::no_space), 0u);
        EXPECT_EQ(log.count(Tag::alloc) + lost(log, Lost::no_space), 40000u);
    }
}

TEST(FullDisk, AtTheFirstByteTurnsTracingOffInOneLine)
{
    const Recording recording;
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  catch_stderr(recording);
                  limit_file_size(200);
                  for (int i = 0; i < 100; ++i)
                      EXPECT_FALSE(hooked_alloc(256, 256));
              })),
              0);
    EXPECT_EQ(recording.dir().names(), std::vector<std::string>{"stderr"});
    const std::string told = content_of(recording.dir().file("stderr"));
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("cannot create the log"), told.npos);
}

TEST(Directory, ThatIsNotThereTurnsTracingOffInOneLine)
{
    Recording recording;
    recording.setting("VRAMSCOPE_LOG", recording.dir().file("no/such/place.vsl"));
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  catch_stderr(recording);
                  for (int i = 0; i < 100; ++i)
                      EXPECT_FALSE(hooked_alloc(256, 256));
              })),
              0);
    const std::string told = content_of(recording.dir().file("stderr"));
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("No such file or directory"), told.npos);
}

TEST(Name, WithAnUnknownPlaceholderTurnsTracingOffInOneLine)
{
    Recording recording;
    recording.setting("VRAMSCOPE_LOG", recording.dir().file("%z.vsl"));
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  catch_stderr(recording);
                  EXPECT_FALSE(hooked_alloc(256, 256));
                  EXPECT_FALSE(hooked_alloc(256, 256));
              })),
              0);
    EXPECT_EQ(lines_in(content_of(recording.dir().file("stderr"))), 1u);
}

TEST(Name, OfAnExistingFileIsLeftToIt)
{
    const Recording recording;
    std::ofstream(recording.path()) << "precious";
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  catch_stderr(recording);
                  EXPECT_TRUE(hooked_alloc(256, 256));
              })),
              0);
    EXPECT_EQ(content_of(recording.path()), "precious");
    EXPECT_EQ(test::read_recorded_log(recording.path() + ".1").count(Tag::alloc), 1u);
    EXPECT_NE(content_of(recording.dir().file("stderr")).find("log.vsl.1"), std::string::npos);
}

TEST(Settings, ThatAreWrongAreToldOnceAndTheLogIsWritten)
{
    Recording recording;
    recording.setting("VRAMSCOPE_STACK_DEPTH", "deep");
    const RecordedLog log = recording.run([&] {
        catch_stderr(recording);
        alloc_many(1, 10);
    });
    EXPECT_EQ(log.info("stack_depth"), "64");
    const std::string told = content_of(recording.dir().file("stderr"));
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("VRAMSCOPE_STACK_DEPTH=deep"), told.npos);
}

TEST(Settings, OfThePoolAreInTheLogAndWhatIsSetInVainIsToldOnce)
{
    Recording recording;
    recording.setting("VRAMSCOPE_POOL", "cache");
    recording.setting("VRAMSCOPE_LIMIT", "8GiB");
    recording.setting("VRAMSCOPE_POISON", "0xA5");
    recording.setting("VRAMSCOPE_GUARD", "on");
    const RecordedLog log = recording.run([&] {
        catch_stderr(recording);
        alloc_many(1, 10);
    });
    EXPECT_EQ(log.info("pool.mode"), "cache");
    EXPECT_EQ(log.info("pool.sync"), "strict");
    EXPECT_EQ(log.info("pool.limit"), "8GiB");
    EXPECT_EQ(log.info("pool.poison"), "0xA5");
    EXPECT_EQ(log.info("pool.guard"), "");
    const std::string told = content_of(recording.dir().file("stderr"));
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("VRAMSCOPE_GUARD: no effect"), told.npos) << told;
}

TEST(Settings, WithoutAPoolTheLogSaysThatItIsOff)
{
    Recording recording;
    recording.setting("VRAMSCOPE_POOL", "off");
    const RecordedLog log = recording.run([] { hooked_alloc(256, 256); });
    EXPECT_EQ(log.info("pool.mode"), "off");
    EXPECT_EQ(log.info("pool.sync"), "");
}

// A daemon closes all descriptors and opens its own files: the log's number is then one of them.
TEST(Descriptor, ThatBecameTheProgramsOwnIsNotWrittenTo)
{
    const Recording recording;
    const RecordedLog log = recording.run([&] {
        catch_stderr(recording);
        alloc_many(1, 10);
        ASSERT_EQ(::close_range(3, ~0u, 0), 0);
        std::vector<int> files;
        for (int i = 0; i < 8; ++i)
            files.push_back(::open(recording.dir().file("file" + std::to_string(i)).c_str(),
                                   O_RDWR | O_CREAT, 0600));
        alloc_many(11, 50000);
    });
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(content_of(recording.dir().file("file" + std::to_string(i))), "");
    EXPECT_EQ(log.count(Tag::alloc) + lost(log, Lost::no_space), 50010u);
    EXPECT_EQ(log.chunks.size(), 1u);
    const std::string told = content_of(recording.dir().file("stderr"));
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("closed its descriptor"), told.npos);
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
