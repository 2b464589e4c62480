// tests/bench/recorder/even_clock.c — a preload whose clock goes 100 ns on at each look at it.
//
// The recorder's records and samples depend on the time. With this clock they are the same in every
// run, and so is the number of instructions. The recorder is kept from the time stamp counter,
// which goes its own way: it cannot read that the kernel trusts it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* time)
{
    static long long now_ns = 1000000000;
    (void)clock;
    now_ns += 100;
    time->tv_sec = now_ns / 1000000000;
    time->tv_nsec = now_ns % 1000000000;
    return 0;
}

int open(const char* path, int flags, ...)
{
    if (strstr(path, "/clocksource")) {
        errno = ENOENT;
        return -1;
    }
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
