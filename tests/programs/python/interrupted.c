// tests/programs/python/interrupted.c — a signal handler that allocates, between any two instructions.
//
// For ctypes: a timer's signal, or one after every single instruction of the calling thread. It
// calls quiet_driver.c, whose functions may be called in a handler.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <ucontext.h>

int cuInit(unsigned flags);
int cuMemAlloc_v2(uint64_t* address, size_t bytes);
int cuMemFree_v2(uint64_t address);

enum { kTrapFlag = 0x100 };

static volatile long left_;     // signals that are still to come; negative: without end
static volatile long each_ = 1; // of so many signals one allocates

static void handler(int number, siginfo_t* info, void* context)
{
    const int saved = errno;
    (void)info;
    if (left_ % each_ == 0) {
        uint64_t address = 0;
        cuMemAlloc_v2(&address, 4096);
        cuMemFree_v2(address);
    }
    if (left_ > 0 && --left_ == 0 && number == SIGTRAP)
        ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)kTrapFlag;
    errno = saved;
}

static void handle(int number)
{
    uint64_t address = 0;
    cuInit(0);
    cuMemAlloc_v2(&address, 512); // opens the log
    struct sigaction action = {0};
    action.sa_sigaction = handler;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigaction(number, &action, NULL);
}

long left(void)
{
    return left_;
}

void every_microseconds(int microseconds)
{
    handle(SIGALRM);
    left_ = -1;
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void at_each_instruction(long signals, long each)
{
    handle(SIGTRAP);
    left_ = signals;
    each_ = each;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}
