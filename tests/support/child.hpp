// tests/support/child.hpp — a piece of a test in a process of its own.
//
// The recorder's state belongs to a process, is opened once and never closed: each test of it takes
// a fresh one. A failed check in the child is printed there, and the exit status fails the test.
#pragma once

#include <cerrno>
#include <exception>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace vramscope::test {

// Forks; the child runs `body` and ends by _exit. Returns the child's pid.
template <class Body>
pid_t start_child(Body body)
{
    std::cout.flush();
    const pid_t child = ::fork();
    if (child != 0)
        return child;
    try {
        body();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "exception in the child: " << error.what();
    }
    std::cout.flush();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
}

// The status as waitpid(2) gives it.
inline int wait_for(pid_t child)
{
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

template <class Body>
void run_in_child(Body body)
{
    EXPECT_EQ(wait_for(start_child(body)), 0) << "the child failed: see above";
}

} // namespace vramscope::test
