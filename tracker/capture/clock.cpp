// tracker/capture/clock.cpp — is the time stamp counter fit to order events?
#include "tracker/capture/clock.hpp"

#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vramscope::capture {
namespace {

bool counter_is_invariant() noexcept
{
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kInvariantTsc = 1u << 8;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & kInvariantTsc);
#else
    return false;
#endif
}

// The kernel watches the counters of all cores and changes its own clock source when they disagree.
bool kernel_trusts_counter() noexcept
{
    const int fd = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char name[64] = {};
    const ssize_t length = ::read(fd, name, sizeof name - 1);
    ::close(fd);
    if (length <= 0)
        return false;
    for (const char* trusted : {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n"})
        if (std::strcmp(name, trusted) == 0)
            return true;
    return false;
}

} // namespace

std::uint64_t clock_ns(clockid_t clock) noexcept
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(time.tv_nsec);
}

format::Clock choose_clock() noexcept
{
    return counter_is_invariant() && kernel_trusts_counter() ? format::Clock::tsc
                                                             : format::Clock::monotonic;
}

} // namespace vramscope::capture
