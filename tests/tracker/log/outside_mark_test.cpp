// tests/tracker/log/outside_mark_test.cpp — marks that other processes put into a log.
//
// They come beside the records of the threads that own the log.
#include "tracker/log/outside_mark.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::hooked_alloc;
using test::RecordedLog;
using test::Recording;

namespace {

bool mark(const std::string& path, std::string_view name)
{
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool written = log::append_mark(descriptor, name);
    const int reason = errno;
    ::close(descriptor);
    errno = reason;
    return written;
}

std::vector<std::string> marks_in(const RecordedLog& log)
{
    std::vector<std::string> names;
    for (const DecodedRecord& record : log.all(Tag::mark))
        names.push_back(record.text("name"));
    return names;
}

off_t disk_bytes(const std::string& path)
{
    struct stat status;
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_blocks * 512;
}

class OutsideMark : public ::testing::Test {
protected:
    // A log of one thread and one event; its process has ended, which the writer does not ask.
    void SetUp() override
    {
        recording_.run([] { hooked_alloc(0x1000, 256); });
        path_ = recording_.path();
    }
    void overwrite(off_t offset, const void* bytes, std::size_t count)
    {
        const int descriptor = ::open(path_.c_str(), O_WRONLY);
        ASSERT_EQ(::pwrite(descriptor, bytes, count, offset), static_cast<ssize_t>(count));
        ::close(descriptor);
    }
    // Where the first chunk of marks begins: after the one of the program.
    static constexpr off_t kMarks = format::kHeaderBytes + format::kChunkBytes;

    Recording recording_;
    std::string path_;
};

} // namespace

TEST_F(OutsideMark, IsARecordOfAThreadOfItsOwn)
{
    const RecordedLog before = recording_.log();
    ASSERT_TRUE(mark(path_, "epoch 2"));
    const RecordedLog log = recording_.log();
    EXPECT_EQ(marks_in(log), std::vector<std::string>{"epoch 2"});
    const DecodedRecord mark = log.all(Tag::mark).front();
    EXPECT_EQ(mark.thread, 1u);
    EXPECT_GE(mark.number("ticks"), before.header.latest_ticks);
    EXPECT_EQ(log.header.threads, before.header.threads + 1);
    ASSERT_EQ(log.chunks.size(), 2u);
    EXPECT_EQ(log.chunks[1].tid, 0u);
    EXPECT_EQ(log.chunks[1].ordinal, 0u);
    const DecodedRecord thread = log.all(Tag::thread).back();
    EXPECT_EQ(thread.text("name"), "vramscope mark");
    EXPECT_EQ(thread.number("tid"), 0u);
}

TEST_F(OutsideMark, MarksShareAChunkAndTakeWholeChunksOfAddressesButNotOfDisk)
{
    const off_t before = disk_bytes(path_);
    std::vector<std::string> names;
    for (int i = 0; i < 50; ++i) {
        names.push_back("mark " + std::to_string(i));
        ASSERT_TRUE(mark(path_, names.back()));
    }
    const RecordedLog log = recording_.log();
    EXPECT_EQ(marks_in(log), names);
    EXPECT_EQ(log.header.chunks, 2u);
    struct stat status;
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_size, format::kHeaderBytes + 2 * format::kChunkBytes);
    EXPECT_LE(disk_bytes(path_) - before, 32 * 1024);
    std::vector<std::uint64_t> ticks;
    for (const DecodedRecord& record : log.all(Tag::mark))
        ticks.push_back(record.number("ticks"));
    EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.end()));
}

TEST_F(OutsideMark, AFullChunkIsFollowedByAnother)
{
    const std::string longest(log::kMostMarkBytes, 'x');
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(mark(path_, longest + "cut off"));
    const RecordedLog log = recording_.log();
    EXPECT_EQ(marks_in(log), std::vector<std::string>(20, longest));
    EXPECT_EQ(log.header.chunks, 4u);
}

TEST_F(OutsideMark, AChunkThatHoldsAnythingElseIsLeftAlone)
{
    ASSERT_TRUE(mark(path_, "first"));
    const std::uint8_t unknown = 0x3f; // in the place of the thread record's tag
    overwrite(kMarks + static_cast<off_t>(sizeof(format::ChunkHeader)), &unknown, 1);
    ASSERT_TRUE(mark(path_, "second"));
    const std::uint8_t thread = 0x22;
    overwrite(kMarks + static_cast<off_t>(sizeof(format::ChunkHeader)), &thread, 1);
    const std::uint32_t beyond = 1u << 30;
    overwrite(kMarks + static_cast<off_t>(offsetof(format::ChunkHeader, committed)), &beyond,
              sizeof beyond);
    ASSERT_TRUE(mark(path_, "third")); // goes to the second's chunk
    const std::uint32_t nothing = 0;
    overwrite(kMarks + static_cast<off_t>(offsetof(format::ChunkHeader, committed)), &nothing,
              sizeof nothing);
    EXPECT_EQ(marks_in(recording_.log()), (std::vector<std::string>{"second", "third"}));
    EXPECT_EQ(recording_.log().header.chunks, 3u);
}

TEST_F(OutsideMark, AChunkThatAnotherWriterHoldsIsNotWaitedFor)
{
    ASSERT_TRUE(mark(path_, "first"));
    const int other = ::open(path_.c_str(), O_RDWR);
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = kMarks;
    range.l_len = format::kChunkBytes;
    ASSERT_EQ(::fcntl(other, F_OFD_SETLK, &range), 0);
    EXPECT_TRUE(mark(path_, "second"));
    ::close(other);
    EXPECT_TRUE(mark(path_, "third"));
    const RecordedLog log = recording_.log();
    EXPECT_EQ(log.header.chunks, 3u);
    EXPECT_EQ(log.count(Tag::mark), 3u);
}

TEST_F(OutsideMark, WithoutRoomTakesNoNumberAndSaysWhy)
{
    test::run_in_child([&] {
        const rlimit limit{static_cast<rlim_t>(kMarks) + 100, RLIM_INFINITY};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        EXPECT_FALSE(mark(path_, "no room"));
        EXPECT_EQ(errno, EFBIG);
    });
    const RecordedLog log = recording_.log();
    EXPECT_EQ(log.header.chunks, 1u);
    EXPECT_EQ(log.count(Tag::mark), 0u);
}

TEST_F(OutsideMark, AFileWithoutAWholeHeaderIsNotTouched)
{
    ASSERT_EQ(::truncate(path_.c_str(), 100), 0);
    EXPECT_FALSE(mark(path_, "too short"));
    EXPECT_EQ(errno, EINVAL);
}

// All that the program records and that others mark at the same moment is there, once. Short
// threads and long names, so that chunks are taken all the time.
TEST(OutsideMarks, OfManyProcessesGoBetweenTheChunksOfARunningProgram)
{
    constexpr int kMarkers = 6;
    constexpr int kMarksEach = 40;
    constexpr int kThreads = 3;
    constexpr std::uint64_t kLives = 100;
    constexpr std::uint64_t kAllocs = 10;
    const std::string long_tail(900, 'x');
    const Recording recording;
    int started[2];
    int marked[2];
    ASSERT_EQ(::pipe(started) | ::pipe(marked), 0);
    const pid_t program = recording.start([&] {
        hooked_alloc(0x1000, 256);
        ASSERT_EQ(::write(started[1], "x", 1), 1);
        std::vector<std::thread> threads;
        for (std::uint64_t thread = 0; thread < kThreads; ++thread)
            threads.emplace_back([thread] {
                for (std::uint64_t life = 0; life < kLives; ++life)
                    std::thread([thread, life] {
                        for (std::uint64_t i = 0; i < kAllocs; ++i)
                            hooked_alloc(((thread + 1) << 40) + (life * kAllocs + i) * 256, 256);
                    }).join();
            });
        for (std::thread& thread : threads)
            thread.join();
        char byte;
        ASSERT_EQ(::read(marked[0], &byte, 1), 1); // the last marks may be later than all events
    });
    char byte;
    ASSERT_EQ(::read(started[0], &byte, 1), 1);
    std::vector<pid_t> markers;
    for (int marker = 0; marker < kMarkers; ++marker)
        markers.push_back(test::start_child([&, marker] {
            for (int i = 0; i < kMarksEach; ++i)
                ASSERT_TRUE(mark(recording.path(),
                                 std::to_string(marker) + "/" + std::to_string(i) + long_tail));
        }));
    for (const pid_t marker : markers)
        EXPECT_EQ(test::wait_for(marker), 0);
    ASSERT_EQ(::write(marked[1], "x", 1), 1);
    EXPECT_EQ(test::wait_for(program), 0);

    const RecordedLog log = recording.log();
    const std::vector<std::string> names = marks_in(log);
    EXPECT_EQ(names.size(), std::size_t{kMarkers} * kMarksEach);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    std::set<std::uint64_t> addresses;
    for (const DecodedRecord& alloc : log.all(Tag::alloc))
        addresses.insert(alloc.number("address"));
    EXPECT_EQ(addresses.size(), 1 + kThreads * kLives * kAllocs);
    EXPECT_EQ(log.header.lost[0], 0u);
}

TEST_F(OutsideMark, OfASearchIsInChunksThatNoMarkGoesTo)
{
    const std::string chain(3000, 'c');
    const std::vector<format::Reached> found(
        100, format::Reached{{}, {}, format::Memory::device, {}, format::Reach::held, 8, 1, chain});
    const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_TRUE(log::append_search(descriptor, 77, {4096, true, "none"}, found));
    ::close(descriptor);
    ASSERT_TRUE(mark(path_, "after"));
    const RecordedLog log = recording_.log();
    EXPECT_EQ(log.all(Tag::searched).size(), 1u);
    EXPECT_EQ(log.all(Tag::reached).size(), found.size());
    EXPECT_EQ(log.all(Tag::reached).back().text("chain"), chain);
    EXPECT_EQ(marks_in(log), std::vector<std::string>{"after"});
}
