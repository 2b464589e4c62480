// tests/simgpu/pipe.hpp — values from one process of a test to another.
#pragma once

#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace simgpu::test {

struct Pipe {
    Pipe() { EXPECT_EQ(::pipe(ends), 0); }
    template <class T>
    void send(const T& value) const
    {
        ASSERT_EQ(::write(ends[1], &value, sizeof value), static_cast<ssize_t>(sizeof value));
    }
    template <class T>
    T receive() const
    {
        T value{};
        EXPECT_EQ(::read(ends[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
        return value;
    }
    int ends[2];
};

// Takes a descriptor from another process of the test, as SCM_RIGHTS would hand it over.
inline int take_over(pid_t process, int file)
{
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
    const int taken = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(taken, 0);
    return taken;
}

inline void* as_handle(int file)
{
    return reinterpret_cast<void*>(static_cast<intptr_t>(file));
}

} // namespace simgpu::test
