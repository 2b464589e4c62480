// tests/tracker/log/log_file_test.cpp — a log never takes another file's place or descriptor.
#include "tracker/log/log_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/child.hpp"
#include "tests/support/temp_dir.hpp"

using namespace vramscope;
using log::LogFile;
using test::content_of;

namespace {

void write_to(const std::string& path, const std::string& content)
{
    std::ofstream(path) << content;
}

// The log's descriptor, found by its file, as LogFile shows it to no caller.
int descriptor_of(const std::string& path)
{
    struct stat wanted;
    EXPECT_EQ(::stat(path.c_str(), &wanted), 0);
    for (int descriptor = 3; descriptor < 1000; ++descriptor) {
        struct stat status;
        if (::fstat(descriptor, &status) == 0 && status.st_ino == wanted.st_ino &&
            status.st_dev == wanted.st_dev)
            return descriptor;
    }
    return -1;
}

class LogFileTest : public ::testing::Test {
protected:
    test::TempDir dir_;
    LogFile file_;
};

} // namespace

TEST_F(LogFileTest, IsReadableByItsOwnerOnly)
{
    const mode_t before = ::umask(0);
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    ::umask(before);
    struct stat status;
    ASSERT_EQ(::stat(dir_.file("a.vsl").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(LogFileTest, HasAHeaderOfZerosThatLandsInTheFile)
{
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    EXPECT_EQ(content_of(file_.path()), std::string(format::kHeaderBytes, '\0'));
    file_.header()->pid = 4711;
    const std::string bytes = content_of(file_.path());
    std::uint32_t pid = 0;
    std::memcpy(&pid, bytes.data() + offsetof(format::FileHeader, pid), sizeof pid);
    EXPECT_EQ(pid, 4711u);
}

TEST_F(LogFileTest, TakesTheNextFreeNameAndKeepsWhatExists)
{
    write_to(dir_.file("a.vsl"), "precious");
    write_to(dir_.file("a.vsl.1"), "also precious");
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    EXPECT_EQ(file_.path(), dir_.file("a.vsl.2"));
    EXPECT_EQ(content_of(dir_.file("a.vsl")), "precious");
    EXPECT_EQ(content_of(dir_.file("a.vsl.1")), "also precious");
}

TEST_F(LogFileTest, DoesNotFollowASymbolicLink)
{
    write_to(dir_.file("victim"), "precious");
    ASSERT_EQ(::symlink(dir_.file("victim").c_str(), dir_.file("a.vsl").c_str()), 0);
    ASSERT_EQ(::symlink(dir_.file("not there").c_str(), dir_.file("a.vsl.1").c_str()), 0);
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    EXPECT_EQ(file_.path(), dir_.file("a.vsl.2"));
    EXPECT_EQ(content_of(dir_.file("victim")), "precious");
    EXPECT_NE(::access(dir_.file("not there").c_str(), F_OK), 0);
}

TEST_F(LogFileTest, SaysWhyItCannotBeCreated)
{
    EXPECT_FALSE(file_.create(dir_.file("no/such/dir/a.vsl").c_str()));
    EXPECT_EQ(errno, ENOENT);
    EXPECT_FALSE(file_.create("/proc/a.vsl"));
    EXPECT_NE(errno, 0);
    const std::string too_long(log::kPathBytes - 4, 'x');
    EXPECT_FALSE(file_.create(too_long.c_str()));
    EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST_F(LogFileTest, HandsOutChunksOneBehindTheOther)
{
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    for (std::uint32_t index = 0; index < 3; ++index) {
        format::ChunkHeader* chunk = file_.map_next_chunks().first;
        ASSERT_NE(chunk, nullptr);
        EXPECT_EQ(chunk->index, index);
        EXPECT_EQ(chunk->magic, 0u);
        chunk->tid = 100 + index;
        LogFile::unmap_chunks({chunk, 1});
    }
    EXPECT_EQ(file_.header()->chunks, 3u);
    const std::string bytes = content_of(file_.path());
    ASSERT_EQ(bytes.size(), format::kHeaderBytes + 3 * format::kChunkBytes);
    for (std::uint32_t index = 0; index < 3; ++index) {
        format::ChunkHeader chunk;
        std::memcpy(&chunk, bytes.data() + format::kHeaderBytes + index * format::kChunkBytes,
                    sizeof chunk);
        EXPECT_EQ(chunk.tid, 100 + index);
    }
}

TEST_F(LogFileTest, HandsOutSeveralChunksInOneMapping)
{
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    ASSERT_NE(file_.map_next_chunks().first, nullptr);
    const log::ChunkRow row = file_.map_next_chunks(3);
    ASSERT_NE(row.first, nullptr);
    EXPECT_EQ(file_.header()->chunks, 4u);
    std::uint32_t left = 3;
    for (format::ChunkHeader* chunk = row.first; chunk; chunk = row.after(chunk)) {
        EXPECT_EQ(row.from(chunk), left--);
        chunk->tid = 100 + left;
    }
    EXPECT_EQ(left, 0u);
    LogFile::unmap_chunks(row);
    const log::ChunkRow rest = file_.map_chunks(2, 2);
    ASSERT_NE(rest.first, nullptr);
    EXPECT_EQ(rest.first->tid, 101u);
    EXPECT_EQ(rest.after(rest.first)->tid, 100u);
}

TEST_F(LogFileTest, WithoutSpaceForSeveralChunksGivesOneAndTakesOneNumber)
{
    test::run_in_child([&] {
        const rlimit limit{format::kHeaderBytes + 2 * format::kChunkBytes + 100, RLIM_INFINITY};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
        for (std::uint32_t number = 0; number < 2; ++number) {
            const log::ChunkRow row = file_.map_next_chunks(log::LogFile::kMostAtOnce);
            ASSERT_NE(row.first, nullptr);
            EXPECT_EQ(row.count, 1u);
            EXPECT_EQ(row.first->index, number);
            EXPECT_EQ(file_.header()->chunks, number + 1);
        }
        EXPECT_EQ(file_.map_next_chunks(log::LogFile::kMostAtOnce).first, nullptr);
        EXPECT_EQ(errno, EFBIG);
    });
}

// SIGXFSZ keeps its default action, which would kill the program.
TEST_F(LogFileTest, AtAFileSizeLimitGivesNoChunkAndRaisesNoSignal)
{
    test::run_in_child([&] {
        const rlimit limit{format::kHeaderBytes + 2 * format::kChunkBytes + 100, RLIM_INFINITY};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
        EXPECT_NE(file_.map_next_chunks().first, nullptr);
        EXPECT_NE(file_.map_next_chunks().first, nullptr);
        EXPECT_EQ(file_.map_next_chunks().first, nullptr);
        EXPECT_EQ(errno, EFBIG);
    });
}

TEST_F(LogFileTest, IsNotLeftBehindWhereNotEvenItsHeaderFits)
{
    test::run_in_child([&] {
        const rlimit limit{100, RLIM_INFINITY};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        EXPECT_FALSE(file_.create(dir_.file("a.vsl").c_str()));
        EXPECT_EQ(errno, EFBIG);
    });
    EXPECT_TRUE(dir_.names().empty());
}

TEST_F(LogFileTest, WritesNothingThroughADescriptorThatTheProgramClosed)
{
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    EXPECT_TRUE(file_.still_ours());
    ASSERT_EQ(::close(descriptor_of(file_.path())), 0);
    EXPECT_FALSE(file_.still_ours());
    EXPECT_EQ(file_.map_next_chunks().first, nullptr);
}

TEST_F(LogFileTest, WritesNothingThroughADescriptorThatBecameAnotherFile)
{
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    const int descriptor = descriptor_of(file_.path());
    ASSERT_GE(descriptor, 0);
    write_to(dir_.file("victim"), "precious");
    const int victim = ::open(dir_.file("victim").c_str(), O_RDWR);
    ASSERT_EQ(::dup2(victim, descriptor), descriptor);
    ::close(victim);
    EXPECT_FALSE(file_.still_ours());
    EXPECT_EQ(file_.map_next_chunks().first, nullptr);
    EXPECT_EQ(content_of(dir_.file("victim")), "precious");
    ::close(descriptor);
}

// A child that wrote through an inherited mapping would write into its parent's log.
TEST_F(LogFileTest, IsNotMappedInTheChildOfAFork)
{
    ASSERT_TRUE(file_.create(dir_.file("a.vsl").c_str()));
    format::ChunkHeader* const chunk = file_.map_next_chunks().first;
    ASSERT_NE(chunk, nullptr);
    test::run_in_child([&] {
        const int memory = ::open("/proc/self/mem", O_RDONLY);
        char byte;
        EXPECT_LT(::pread(memory, &byte, 1, reinterpret_cast<off_t>(chunk)), 0);
        EXPECT_LT(::pread(memory, &byte, 1, reinterpret_cast<off_t>(file_.header())), 0);
        EXPECT_EQ(::pread(memory, &byte, 1, reinterpret_cast<off_t>(&file_)), 1);
    });
}
