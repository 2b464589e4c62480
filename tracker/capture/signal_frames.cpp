// tracker/capture/signal_frames.cpp — the code at all return addresses, in one system call.
#include "tracker/capture/signal_frames.hpp"

#include <algorithm>
#include <sys/uio.h>
#include <unistd.h>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/unwinder.hpp"

namespace vramscope::capture {
namespace {

constexpr std::size_t kCodeBytes = 9;
// mov $15 (rt_sigreturn), %rax or %eax; syscall: as glibc, and as musl and Go have it.
constexpr std::uint8_t kReturns[][kCodeBytes] = {
    {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
    {0xb8, 15, 0, 0, 0, 0x0f, 0x05},
};
constexpr std::size_t kReturnBytes[] = {9, 7};

struct Work {
    iovec theirs[kMaxFrames];
    std::uint8_t code[kMaxFrames][kCodeBytes];
    std::uintptr_t deeper[kHandlerFrames];
};

bool leads_through_return(Work& work, const std::uintptr_t* addresses, std::size_t count) noexcept
{
    count = std::min(count, kMaxFrames);
    for (std::size_t at = 0; at < count; ++at)
        work.theirs[at] = {reinterpret_cast<void*>(addresses[at]), kCodeBytes};
    const iovec ours{work.code, count * kCodeBytes};
    const ssize_t got = ::process_vm_readv(::getpid(), &ours, 1, work.theirs, count, 0);
    const std::size_t whole = got < 0 ? 0 : static_cast<std::size_t>(got) / kCodeBytes;
    return whole < count ||
           std::any_of(work.code, work.code + whole,
                       [](const std::uint8_t(&code)[kCodeBytes]) { return ends_handler(code); });
}

} // namespace

bool ends_handler(const std::uint8_t* code) noexcept
{
    return std::equal(kReturns[0], kReturns[0] + kReturnBytes[0], code) ||
           std::equal(kReturns[1], kReturns[1] + kReturnBytes[1], code);
}

bool interrupts_something(const std::uintptr_t* addresses, std::size_t count,
                          bool truncated) noexcept
{
    const Scratch<Work> work;
    if (!work || count == 0 || leads_through_return(*work, addresses, count))
        return true;
    if (!truncated || count >= kHandlerFrames)
        return false;
    bool still = false;
    const std::size_t more = unwind(addresses[0], work->deeper, kHandlerFrames, still);
    return more == 0 || leads_through_return(*work, work->deeper, more);
}

} // namespace vramscope::capture
