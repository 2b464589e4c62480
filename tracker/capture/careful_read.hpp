// tracker/capture/careful_read.hpp — reads memory of this process that may not be mapped.
//
// The kernel copies, at the price of a system call: this is for cold paths. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

struct Piece {
    std::uintptr_t from;
    void* to;
    std::size_t bytes;
};

// All of them in one call, at most kMostPieces.
inline constexpr std::size_t kMostPieces = 4;
inline bool read_carefully(std::span<const Piece> pieces) noexcept
{
    iovec ours[kMostPieces];
    iovec theirs[kMostPieces];
    std::size_t bytes = 0;
    for (std::size_t at = 0; at < pieces.size(); ++at) {
        ours[at] = {pieces[at].to, pieces[at].bytes};
        theirs[at] = {reinterpret_cast<void*>(pieces[at].from), pieces[at].bytes};
        bytes += pieces[at].bytes;
    }
    return ::process_vm_readv(::getpid(), ours, pieces.size(), theirs, pieces.size(), 0) ==
           static_cast<ssize_t>(bytes);
}

} // namespace vramscope::capture
