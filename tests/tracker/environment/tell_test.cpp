// tests/tracker/environment/tell_test.cpp — telling a line does no harm.
//
// Only the run file is written to.
#include "tracker/environment/tell.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/child.hpp"
#include "tests/support/temp_dir.hpp"

using namespace vramscope;
using test::content_of;

namespace {

constexpr char kTold[] = "vramscope: hello\n";
constexpr unsigned kMostSeconds = 60; // a line that waits longer is killed

struct Pipe {
    Pipe() { EXPECT_EQ(::pipe(ends), 0); }
    int ends[2] = {-1, -1};
};

// Runs in a process whose stderr is `descriptor`, so failures must be told by the status alone.
int tell_to(
    int descriptor, const std::function<bool()>& after = [] { return true; })
{
    const pid_t child = test::start_child([&] {
        ::alarm(kMostSeconds);
        ::dup2(descriptor, STDERR_FILENO);
        errno = 4711;
        log::tell("hello");
        ::_exit(errno == 4711 && after() ? 0 : 1);
    });
    return test::wait_for(child);
}

std::string read_all(int descriptor)
{
    char buffer[8192];
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

bool is_pending(int number)
{
    sigset_t pending;
    ::sigpending(&pending);
    return sigismember(&pending, number) == 1;
}

} // namespace

TEST(Tell, IsOneLineThatNoTerminalCanMistake)
{
    const Pipe pipe;
    test::run_in_child([&] { // the settings are read once by a process
        ::dup2(pipe.ends[1], STDERR_FILENO);
        log::tell("one %s", "two\nthree\x1b \xc2\x9b \xe2\x80\xae \xff größe");
    });
    EXPECT_EQ(read_all(pipe.ends[0]),
              "vramscope: one two\\x0athree\\x1b \\xc2\\x9b \\xe2\\x80\\xae \\xff größe\n");
}

TEST(Tell, ReachesPipesSocketsAndFiles)
{
    const Pipe pipe;
    EXPECT_EQ(tell_to(pipe.ends[1]), 0);
    EXPECT_EQ(read_all(pipe.ends[0]), kTold);

    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    EXPECT_EQ(tell_to(sockets[1]), 0);
    EXPECT_EQ(read_all(sockets[0]), kTold);

    const test::TempDir dir;
    const int file = ::open(dir.file("stderr").c_str(), O_WRONLY | O_CREAT, 0600);
    EXPECT_EQ(tell_to(file), 0);
    EXPECT_EQ(content_of(dir.file("stderr")), kTold);
}

TEST(Tell, ToAPipeOrASocketThatNobodyReadsRaisesNothing)
{
    const Pipe pipe;
    ::close(pipe.ends[0]);
    EXPECT_EQ(tell_to(pipe.ends[1]), 0);

    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    ::close(sockets[0]);
    EXPECT_EQ(tell_to(sockets[1]), 0);
}

TEST(Tell, ToAFullPipeIsDroppedAndThePipeIsLeftAsItWas)
{
    const Pipe pipe;
    const int bytes = ::fcntl(pipe.ends[1], F_SETPIPE_SZ, 4096);
    ASSERT_GT(bytes, 0);
    const std::string filler(static_cast<std::size_t>(bytes), 'x');
    ASSERT_EQ(::write(pipe.ends[1], filler.data(), filler.size()), bytes);
    EXPECT_EQ(tell_to(pipe.ends[1]), 0);
    EXPECT_EQ(::fcntl(pipe.ends[1], F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(read_all(pipe.ends[0]), filler);
}

TEST(Tell, ToAFileAtItsLimitRaisesNothing)
{
    const test::TempDir dir;
    const int file = ::open(dir.file("stderr").c_str(), O_WRONLY | O_CREAT, 0600);
    test::run_in_child([&] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        EXPECT_EQ(tell_to(file), 0);
    });
    EXPECT_EQ(content_of(dir.file("stderr")), "");
}

TEST(Tell, WritesIntoNoFileThatTheProgramOpenedInItsPlace)
{
    const test::TempDir dir;
    const Pipe pipe;
    test::run_in_child([&] {
        ::dup2(pipe.ends[1], STDERR_FILENO);
        log::keep_stderr();
        log::tell("hello");
        ::close(STDERR_FILENO);
        EXPECT_EQ(::open(dir.file("data").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
        log::tell("hello");
    });
    EXPECT_EQ(read_all(pipe.ends[0]), kTold);
    EXPECT_EQ(content_of(dir.file("data")), "");
    test::run_in_child([&] { // closed from the beginning
        ::close(STDERR_FILENO);
        log::keep_stderr();
        EXPECT_EQ(::open(dir.file("data").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
        log::tell("hello");
    });
    EXPECT_EQ(content_of(dir.file("data")), "");
}

TEST(Tell, ToAClosedDescriptorIsDropped)
{
    test::run_in_child([] {
        ::close(STDERR_FILENO);
        log::tell("hello");
    });
}

TEST(Tell, LeavesTheProgramsOwnPendingSignalsAndNoneOfItsOwn)
{
    const Pipe pipe;
    ::close(pipe.ends[0]);
    for (const bool own : {false, true})
        test::run_in_child([&] {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGPIPE);
            ::sigprocmask(SIG_BLOCK, &set, nullptr);
            if (own)
                ::raise(SIGPIPE);
            EXPECT_EQ(tell_to(pipe.ends[1], [] { return !is_pending(SIGPIPE); }), 0)
                << "a fork has no pending signals";
            ::dup2(pipe.ends[1], STDERR_FILENO);
            log::tell("hello");
            EXPECT_EQ(is_pending(SIGPIPE), own);
        });
}

// ---- the run file ----

namespace {

const std::string kNonce = "0123456789abcdef0123456789abcdef";
const std::string kHeading = log::kRunFileHeading + kNonce + "\n";

struct RunFile {
    RunFile() { write(kHeading); }
    void write(const std::string& text)
    {
        std::ofstream(path, std::ios::binary) << text;
        ::chmod(path.c_str(), 0600);
    }
    // What is in it after a process announced itself there.
    std::string announced(const std::string& variable) const
    {
        test::run_in_child([&] {
            ::alarm(kMostSeconds);
            ::setenv("VRAMSCOPE_RUN", variable.c_str(), 1);
            log::announce("start", "program");
        });
        return content_of(path);
    }
    std::string announced() const { return announced(kNonce + ":" + path); }

    test::TempDir dir;
    std::string path = dir.file("run");
};

} // namespace

TEST(RunFile, OfThisRunGetsTheLine)
{
    const RunFile file;
    const std::string text = file.announced();
    EXPECT_EQ(text.substr(0, kHeading.size()), kHeading);
    EXPECT_NE(text.find("start\t"), text.npos);
    EXPECT_NE(text.find("\tprogram\n"), text.npos);
}

TEST(RunFile, OfAnotherNonceOrNoneIsLeftAlone)
{
    RunFile file;
    EXPECT_EQ(file.announced(file.path), kHeading) << "a path alone";
    EXPECT_EQ(file.announced(":" + file.path), kHeading);
    std::string other = kNonce;
    other[31] = '0';
    EXPECT_EQ(file.announced(other + ":" + file.path), kHeading);
    for (const std::string& text : {std::string(), std::string("root:x:0:0\n"), kNonce + "\n",
                                    kHeading.substr(0, kHeading.size() - 1)}) {
        file.write(text);
        EXPECT_EQ(file.announced(), text);
    }
}

TEST(RunFile, ThatOthersMayWriteOrReachByAnotherNameIsLeftAlone)
{
    const RunFile file;
    for (const unsigned mode : {0644u, 0660u, 0602u, 0700u, 04600u}) {
        ::chmod(file.path.c_str(), mode);
        EXPECT_EQ(file.announced(), kHeading) << std::oct << mode;
    }
    ::chmod(file.path.c_str(), 0600);
    const std::string name = file.dir.file("name");
    ASSERT_EQ(::link(file.path.c_str(), name.c_str()), 0);
    EXPECT_EQ(file.announced(), kHeading) << "a second link";
    ::unlink(name.c_str());
    ASSERT_EQ(::symlink(file.path.c_str(), name.c_str()), 0);
    EXPECT_EQ(file.announced(kNonce + ":" + name), kHeading) << "a symbolic link";
}

TEST(RunFile, OfAnotherUserIsLeftAlone)
{
    const RunFile file;
    if (::chown(file.path.c_str(), 65534, 65534) != 0)
        GTEST_SKIP() << "only root can give a file away";
    EXPECT_EQ(file.announced(), kHeading);
}

TEST(RunFile, ThatIsNoFileIsNotWaitedFor)
{
    const RunFile file;
    const std::string fifo = file.dir.file("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_EQ(file.announced(kNonce + ":" + fifo), kHeading);
}

TEST(RunFile, AtTheLimitOfFilesRaisesNothing)
{
    const RunFile file;
    test::run_in_child([&] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        EXPECT_EQ(file.announced(), kHeading);
    });
}
