// tracker/capture/careful_read.hpp — reads memory of this process that may not be mapped.
//
// The kernel copies, at the price of a system call: this is for cold paths. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/uio.h>
#include <unistd.h>

namespace vramscope::capture {

// False, and errno is set: not all of it could be read.
template <class T>
bool read_carefully(std::uintptr_t from, T* to, std::size_t count = 1) noexcept
{
    const iovec ours{to, count * sizeof(T)};
    const iovec theirs{reinterpret_cast<void*>(from), count * sizeof(T)};
    return ::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0) ==
           static_cast<ssize_t>(count * sizeof(T));
}

} // namespace vramscope::capture
