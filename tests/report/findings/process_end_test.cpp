// tests/report/findings/process_end_test.cpp — process ends by header, parent and /proc.
#include "report/findings/process_end.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

using Kind = ProcessEnd::Kind;
using format::End;

constexpr int exited_with(int status)
{
    return status << 8;
}

ProcessEnd judge(End end, int status, int wait_status = -1, bool exec = false, bool running = false)
{
    format::FileHeader header{};
    header.end = end;
    header.end_status = status;
    header.waited = wait_status >= 0;
    header.wait_status = wait_status < 0 ? 0 : wait_status;
    header.exec_seen = exec;
    return judge_end(header, running);
}

std::uint64_t start_time_of(pid_t pid)
{
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    std::getline(in, stat);
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    std::string field;
    for (int number = 3; number <= 22; ++number)
        fields >> field;
    return std::stoull(field);
}

TEST(ProcessEnd, TakesTheProcesssOwnWord)
{
    EXPECT_EQ(describe(judge(End::exit, 3)), "exited with status 3");
    EXPECT_EQ(describe(judge(End::quick_exit, 0)), "ended by quick_exit with status 0");
    EXPECT_EQ(describe(judge(End::underscore_exit, 1)), "ended by _exit with status 1");
    for (const End end : {End::exit, End::quick_exit, End::underscore_exit})
        EXPECT_TRUE(judge(end, 1).conclusive());
}

TEST(ProcessEnd, WithoutAWordItIsUnknown)
{
    const ProcessEnd end = judge(End::unknown, 0);
    EXPECT_EQ(end.kind, Kind::unknown);
    EXPECT_FALSE(end.conclusive());
    EXPECT_EQ(judge(static_cast<End>(99), 0).kind, Kind::unknown);
}

TEST(ProcessEnd, TheParentKnowsBetter)
{
    const ProcessEnd killed = judge(End::unknown, 0, SIGKILL);
    EXPECT_EQ(describe(killed), "was killed by signal 9 (SIGKILL)");
    EXPECT_FALSE(killed.conclusive());
    EXPECT_EQ(judge(End::exit, 0, SIGSEGV).kind, Kind::killed) << "crashed in an exit handler";
    EXPECT_EQ(describe(judge(End::unknown, 0, exited_with(7))), "exited with status 7");
    EXPECT_EQ(describe(judge(End::quick_exit, 0, exited_with(7))),
              "ended by quick_exit with status 7");
}

TEST(ProcessEnd, SignalNumbersWithoutANameArePrinted)
{
    EXPECT_EQ(describe(judge(End::unknown, 0, 34)), "was killed by signal 34");
}

TEST(ProcessEnd, AfterExecTheParentsWordIsAboutTheNewProgram)
{
    EXPECT_EQ(judge(End::unknown, 0, exited_with(0), true).kind, Kind::replaced);
    EXPECT_EQ(judge(End::unknown, 0, SIGKILL, true).kind, Kind::replaced);
    EXPECT_TRUE(judge(End::unknown, 0, SIGKILL, true).conclusive());
}

TEST(ProcessEnd, ALivingProcessIsStillRunning)
{
    EXPECT_EQ(judge(End::unknown, 0, -1, false, true).kind, Kind::running);
    EXPECT_EQ(judge(End::exit, 0, -1, false, true).kind, Kind::running) << "in its exit handlers";
    EXPECT_FALSE(judge(End::unknown, 0, -1, false, true).conclusive());
}

TEST(ProcessIsRunning, KnowsAProcessByPidAndStartTime)
{
    const auto self = static_cast<std::uint32_t>(::getpid());
    const std::uint64_t start = start_time_of(::getpid());
    EXPECT_TRUE(process_is_running(self, start));
    EXPECT_FALSE(process_is_running(self, start + 1)) << "a later process with the same pid";
    EXPECT_FALSE(process_is_running(self, 0));
    EXPECT_FALSE(process_is_running(0, start));
    EXPECT_FALSE(process_is_running(0x7ffffff0, start));
}

TEST(ProcessIsRunning, WhateverItsNameIs)
{
    char before[16] = {};
    ::prctl(PR_GET_NAME, before);
    const std::uint64_t start = start_time_of(::getpid());
    for (const char* name : {"two\nlines", "a) R 1 (b", ")"}) {
        ::prctl(PR_SET_NAME, name);
        const auto self = static_cast<std::uint32_t>(::getpid());
        EXPECT_TRUE(process_is_running(self, start)) << name;
    }
    ::prctl(PR_SET_NAME, before);
}

TEST(ProcessIsRunning, AZombieIsNot)
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(0);
    const std::uint64_t start = start_time_of(child);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(process_is_running(static_cast<std::uint32_t>(child), start));
    ::waitpid(child, nullptr, 0);
}

} // namespace
} // namespace vramscope::report
