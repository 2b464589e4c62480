// tracker/log/thread.cpp — this thread's state, and its ranges before it has a log to go to.
#include "tracker/log/thread.hpp"

#include <cstring>
#include <sys/mman.h>

namespace vramscope::log {

thread_local constinit Thread this_thread{};

void PendingRanges::give_room_back() noexcept
{
    if (bytes_)
        ::munmap(bytes_, kBytes);
    *this = {};
}

void PendingRanges::push(std::string_view name) noexcept
{
    name = name.substr(0, 255);
    if (unnamed_ || !bytes_ || used_ + name.size() + 2 > kBytes) {
        ++unnamed_;
        return;
    }
    bytes_[used_] = static_cast<char>(name.size());
    std::memcpy(bytes_ + used_ + 1, name.data(), name.size());
    bytes_[used_ + 1 + name.size()] = static_cast<char>(name.size());
    used_ += static_cast<std::uint32_t>(name.size() + 2);
}

void PendingRanges::pop() noexcept
{
    if (unnamed_)
        --unnamed_;
    else if (used_)
        used_ -= static_cast<std::uint8_t>(bytes_[used_ - 1]) + 2u;
}

} // namespace vramscope::log
