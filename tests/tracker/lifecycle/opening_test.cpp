// tests/tracker/lifecycle/opening_test.cpp — full disks, names, settings, and what is told of them.
#include "tracker/lifecycle/opening.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Lost;
using format::Tag;
using test::addresses_in;
using test::alloc_many;
using test::content_of;
using test::DecodedRecord;
using test::hooked_alloc;
using test::hooked_free;
using test::lost;
using test::multiples_of_256;
using test::RecordedLog;
using test::Recording;

namespace {

constexpr std::uint64_t kChunk = format::kChunkBytes;

void limit_file_size(std::uint64_t bytes)
{
    const rlimit limit{bytes, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

std::size_t lines_in(const std::string& text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST(FullDisk, CostsEventsThatAreCountedAndToldOnce)
{
    constexpr std::uint64_t kEvents = 100000;
    const Recording recording;
    const RecordedLog log = recording.run([&] {
        recording.catch_stderr();
        limit_file_size(format::kHeaderBytes + 2 * kChunk);
        alloc_many(1, kEvents);
    });
    EXPECT_EQ(log.chunks.size(), 2u);
    const std::size_t kept = log.count(Tag::alloc);
    EXPECT_GT(kept, 5000u);
    EXPECT_EQ(kept + lost(log, Lost::no_space), kEvents);
    EXPECT_EQ(addresses_in(log), multiples_of_256(1, kept));
    const std::string told = recording.told();
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find(recording.path()), told.npos);
    EXPECT_NE(told.find("File too large"), told.npos) << told;
}

TEST(MaxLog, IsWhereTheLogEndsAndWhatIsLostIsCountedAndToldOnce)
{
    constexpr std::uint64_t kEvents = 400000;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
    Recording recording;
    recording.setting("VRAMSCOPE_MAX_LOG", "1MiB");
    const RecordedLog log = recording.run([&] {
        recording.catch_stderr();
        alloc_many(1, kEvents);
    });
    EXPECT_EQ(log.chunks.size(), (kMost - format::kHeaderBytes) / kChunk);
    EXPECT_LE(std::filesystem::file_size(recording.path()), kMost);
    const std::size_t kept = log.count(Tag::alloc);
    EXPECT_GT(kept, 50000u);
    EXPECT_EQ(kept + lost(log, Lost::log_limit), kEvents);
    EXPECT_EQ(lost(log, Lost::no_space), 0u);
    EXPECT_EQ(addresses_in(log), multiples_of_256(1, kept));
    EXPECT_GT(log.header.full_ticks, log.header.start_ticks);
    const std::string told = recording.told();
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("VRAMSCOPE_MAX_LOG"), told.npos) << told;
}

TEST(MaxLog, IsOffUnlessItIsSet)
{
    const RecordedLog log = Recording().run([] { alloc_many(1, 400000); });
    EXPECT_EQ(log.count(Tag::alloc), 400000u);
    EXPECT_EQ(log.header.full_ticks, 0u);
}

TEST(FullDisk, CostsEachEventOnce)
{
    constexpr std::uint64_t kEvents = 20000;
    const RecordedLog log = Recording().run([&] {
        const int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, STDERR_FILENO);
        limit_file_size(format::kHeaderBytes + kChunk);
        for (std::uint64_t i = 1; i <= kEvents; ++i)
            hooked_free(i * 256);
        const log::CallSite site = VRAMSCOPE_TEST_CALL_SITE();
        const test::InHook hook;
        log::Thread& thread = log::this_thread;
        for (std::uint64_t i = 1; i <= kEvents; ++i)
            log::write(thread, {log::now(), 2},
                       format::ContextGone{i, log::record_stack(thread, site)});
        log::record_stack(thread, site); // without an event, as where no context was open
    });
    const std::size_t kept = log.count(Tag::free);
    EXPECT_GT(kept, 1000u);
    EXPECT_EQ(kept + log.count(Tag::context_gone) + lost(log, Lost::no_space), 2 * kEvents);
}

TEST(FullDisk, IsForgottenOnceThereIsRoomAgain)
{
    constexpr std::uint64_t kEvents = 60000;
    const RecordedLog log = Recording().run([] {
        const int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, STDERR_FILENO);
        limit_file_size(format::kHeaderBytes + kChunk);
        alloc_many(1, kEvents);
        limit_file_size(std::uint64_t{1} << 30);
        alloc_many(kEvents + 1, kEvents); // another line: its stack is new when there is room again
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
                  recording.catch_stderr();
                  limit_file_size(200);
                  for (int i = 0; i < 100; ++i)
                      EXPECT_FALSE(hooked_alloc(256, 256));
              })),
              0);
    EXPECT_EQ(recording.dir().names(), std::vector<std::string>{"stderr"});
    const std::string told = recording.told();
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("cannot create the log"), told.npos);
}

TEST(Directory, ThatIsNotThereTurnsTracingOffInOneLine)
{
    Recording recording;
    recording.setting("VRAMSCOPE_LOG", recording.dir().file("no/such/place.vsl"));
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  recording.catch_stderr();
                  for (int i = 0; i < 100; ++i)
                      EXPECT_FALSE(hooked_alloc(256, 256));
              })),
              0);
    const std::string told = recording.told();
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("No such file or directory"), told.npos);
}

TEST(Name, WithAnUnknownPlaceholderTurnsTracingOffInOneLine)
{
    Recording recording;
    recording.setting("VRAMSCOPE_LOG", recording.dir().file("%z.vsl"));
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  recording.catch_stderr();
                  EXPECT_FALSE(hooked_alloc(256, 256));
                  EXPECT_FALSE(hooked_alloc(256, 256));
              })),
              0);
    EXPECT_EQ(lines_in(recording.told()), 1u);
}

TEST(Name, OfAnExistingFileIsLeftToIt)
{
    const Recording recording;
    std::ofstream(recording.path()) << "precious";
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  recording.catch_stderr();
                  EXPECT_TRUE(hooked_alloc(256, 256));
              })),
              0);
    EXPECT_EQ(content_of(recording.path()), "precious");
    EXPECT_EQ(test::read_recorded_log(recording.path() + ".1").count(Tag::alloc), 1u);
    EXPECT_NE(recording.told().find("log.vsl.1"), std::string::npos);
}

TEST(Settings, ThatAreWrongAreToldOnceAndTheLogIsWritten)
{
    Recording recording;
    recording.setting("VRAMSCOPE_STACK_DEPTH", "deep");
    const RecordedLog log = recording.run([&] {
        recording.catch_stderr();
        alloc_many(1, 10);
    });
    EXPECT_EQ(log.info("stack_depth"), "64");
    const std::string told = recording.told();
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
        recording.catch_stderr();
        alloc_many(1, 10);
    });
    EXPECT_EQ(log.info("pool.mode"), "cache");
    EXPECT_EQ(log.info("pool.sync"), "strict");
    EXPECT_EQ(log.info("pool.limit"), "8GiB");
    EXPECT_EQ(log.info("pool.poison"), "0xA5");
    EXPECT_EQ(log.info("pool.guard"), "");
    const std::string told = recording.told();
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
        recording.catch_stderr();
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
    const std::string told = recording.told();
    EXPECT_EQ(lines_in(told), 1u) << told;
    EXPECT_NE(told.find("closed its descriptor"), told.npos);
}
