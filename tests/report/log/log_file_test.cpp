// tests/report/log/log_file_test.cpp — which files are logs, and errors for other files.
#include "report/log/log_file.hpp"

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;

// What open() says; "" if it takes the file.
std::string refusal(const std::filesystem::path& path)
{
    try {
        LogFile::open(path);
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::bad_input);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line only";
        return error.what();
    }
}

std::string refusal(const Bytes& bytes)
{
    const TempFile file(bytes);
    return refusal(file.path());
}

template <typename Change>
std::string refusal_of_header(Change change)
{
    Bytes bytes = LogBuilder().alloc(0x1000, 256).build();
    format::FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return refusal(bytes);
}

bool says(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

TEST(LogFile, TakesAWholeLog)
{
    EXPECT_EQ(refusal_of_header([](format::FileHeader&) {}), "");
}

TEST(LogFile, RefusesAFileThatIsNotThereByName)
{
    const std::string text = refusal(std::filesystem::path("/nowhere/a.vsl"));
    EXPECT_TRUE(says(text, "/nowhere/a.vsl")) << text;
    EXPECT_TRUE(says(text, "No such file")) << text;
}

TEST(LogFile, RefusesADirectory)
{
    EXPECT_TRUE(says(refusal(std::filesystem::path("/tmp")), "directory"));
}

TEST(LogFile, RefusesADeviceAndAFifoWithoutWaiting)
{
    EXPECT_TRUE(says(refusal(std::filesystem::path("/dev/zero")), "no regular file"));
    const std::string fifo = testing::TempDir() + "vramscope-fifo." + std::to_string(::getpid());
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string text = refusal(std::filesystem::path(fifo));
    ::unlink(fifo.c_str());
    EXPECT_TRUE(says(text, "no regular file")) << text;
}

TEST(LogFile, RefusesAnEmptyFile)
{
    EXPECT_TRUE(says(refusal(Bytes{}), "empty"));
}

TEST(LogFile, RefusesGarbageOfAnyLength)
{
    EXPECT_TRUE(says(refusal(Bytes(3, 'V')), "no log of vramscope"));
    EXPECT_TRUE(says(refusal(Bytes(10'000, 'x')), "no log of vramscope"));
}

TEST(LogFile, RefusesALogThatIsCutInsideItsHeader)
{
    Bytes bytes = LogBuilder().alloc(0x1000, 256).build();
    bytes.resize(4095);
    EXPECT_TRUE(says(refusal(bytes), "4095 of 4096 bytes"));
}

TEST(LogFile, TakesTheFormatsBeforeItsOwnDownToTheOldestThatItReads)
{
    const auto refusal_of_major = [](std::uint16_t major) {
        return refusal_of_header([&](format::FileHeader& header) { header.major = major; });
    };
    EXPECT_EQ(refusal_of_major(format::kOldestMajorVersion), "");
    const std::string text = refusal_of_major(format::kOldestMajorVersion - 1);
    EXPECT_TRUE(says(text, "format 2") && says(text, "format 3 and newer")) << text;
}

TEST(LogFile, RefusesANewerFormatAndNamesBothVersions)
{
    const std::string text = refusal_of_header(
        [](format::FileHeader& header) { header.major = format::kCollectedMajorVersion + 1; });
    const std::string newer = "format " + std::to_string(format::kCollectedMajorVersion + 1);
    const std::string ours = "reads format " + std::to_string(format::kMajorVersion);
    EXPECT_TRUE(says(text, newer) && says(text, ours) && says(text, "newer vramscope")) << text;
}

TEST(LogFile, RefusesACollectedOneUnlessItIsAskedFor)
{
    LogBuilder log;
    log.header().major = format::kCollectedMajorVersion;
    const TempFile file(log.build());
    EXPECT_TRUE(says(refusal(file.path()), "needs each event"));
    EXPECT_FALSE(LogFile::open(file.path(), LogFile::Collected::taken).collected());
}

// As `top` does between two looks: meanwhile a collector may give its chunks back.
TEST(LogFile, KeepsCollectorsOffWhileItIsHeld)
{
    const TempFile file(LogBuilder().build());
    const int collector = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
    struct flock alone {};
    alone.l_type = F_WRLCK;
    alone.l_start = alone.l_len = 1;
    const auto may_collect = [&] { return ::fcntl(collector, F_OFD_SETLK, &alone) == 0; };
    LogFile log = LogFile::open(file.path());
    EXPECT_FALSE(may_collect());
    log.release();
    EXPECT_TRUE(may_collect());
    ::close(collector);
    log.hold();
}

TEST(LogFile, TakesANewerMinorVersion)
{
    EXPECT_EQ(refusal_of_header([](format::FileHeader& header) { header.minor = 999; }), "");
}

TEST(LogFile, RefusesTheOtherByteOrder)
{
    EXPECT_TRUE(
        says(refusal_of_header([](format::FileHeader& header) { header.byte_order = 0x04030201; }),
             "byte order"));
}

TEST(LogFile, RefusesSizesThatCannotBe)
{
    for (const std::uint32_t size : {0u, 1u, 255u, 0x80000000u, UINT32_MAX}) {
        const std::string text =
            refusal_of_header([&](format::FileHeader& header) { header.chunk_bytes = size; });
        EXPECT_TRUE(says(text, "chunks of " + std::to_string(size))) << text;
    }
    EXPECT_TRUE(says(refusal_of_header([](format::FileHeader& header) { header.header_bytes = 0; }),
                     "damaged"));
    EXPECT_TRUE(says(
        refusal_of_header([](format::FileHeader& header) { header.header_bytes = UINT32_MAX; }),
        "damaged"));
}

TEST(LogFile, RefusesAClockThatItDoesNotKnow)
{
    EXPECT_TRUE(says(refusal_of_header([](format::FileHeader& header) {
                         header.clock = static_cast<format::Clock>(9);
                     }),
                     "clock 9"));
}

TEST(LogFile, IsCutWhenChunksThatWereHandedOutAreMissing)
{
    LogBuilder log(256);
    log.alloc(0x1000, 256).new_chunk().alloc(0x2000, 256);
    Bytes bytes = log.build();
    EXPECT_FALSE(LogFile::open(TempFile(bytes).path()).cut());
    bytes.pop_back();
    EXPECT_TRUE(LogFile::open(TempFile(bytes).path()).cut());
    bytes.resize(log.chunk_offset(1));
    const TempFile file(bytes);
    const LogFile opened = LogFile::open(file.path());
    EXPECT_TRUE(opened.cut());
    EXPECT_EQ(opened.chunks(), 1u);
}

TEST(LogFile, IsNotCutWhenTheDiskWasTooFullForAChunk)
{
    LogBuilder log(256);
    log.alloc(0x1000, 256).unused_chunk();
    log.header().lost[static_cast<std::size_t>(format::Lost::no_space)] = 5;
    Bytes bytes = log.build();
    bytes.resize(log.chunk_offset(1));
    EXPECT_FALSE(LogFile::open(TempFile(bytes).path()).cut());
}

} // namespace
} // namespace vramscope::report
