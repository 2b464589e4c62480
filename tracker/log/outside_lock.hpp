// tracker/log/outside_lock.hpp — a part of a log's file, held against other processes that look at
// it from outside. The traced program knows no such locks.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

namespace vramscope::log {

// Held until this is gone or the descriptor is closed: the kernel lets go however a process ends.
class OutsideLock {
public:
    // Does not wait: where another has it, held() is false, and errno says why.
    OutsideLock(int descriptor, off_t begin, off_t bytes) noexcept : descriptor_(descriptor)
    {
        range_.l_whence = SEEK_SET;
        range_.l_start = begin;
        range_.l_len = bytes;
        held_ = set(F_WRLCK);
    }
    ~OutsideLock()
    {
        if (held_)
            set(F_UNLCK);
    }
    OutsideLock(const OutsideLock&) = delete;
    OutsideLock& operator=(const OutsideLock&) = delete;
    bool held() const noexcept { return held_; }
    void keep() noexcept { held_ = false; } // until the descriptor is closed

private:
    bool set(short type) noexcept
    {
        range_.l_type = type;
        return ::fcntl(descriptor_, F_OFD_SETLK, &range_) == 0;
    }

    int descriptor_;
    struct flock range_ {};
    bool held_;
};

} // namespace vramscope::log
