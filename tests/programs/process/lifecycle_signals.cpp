// tests/programs/process/lifecycle_signals.cpp — signal handlers that use CUDA themselves.
//
// Some of them never come back.
//
// Usage: lifecycle_signals SCENE. With lifecycle_raises.c preloaded, an allocation of kRaisingBytes
// is interrupted inside the driver by SIGUSR1; else a timer interrupts whatever runs. What goes to
// stdout is the same with and without a tracer.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <link.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/scenes.hpp"

namespace {

constexpr std::size_t kRaisingBytes = 7777;
sigjmp_buf way_out;

CUdeviceptr allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags = 0)
{
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(number, &action, nullptr);
}

[[gnu::noinline]] void allocate_in_handler(int, siginfo_t*, void*)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, 1000));
    check(cuMemFree_v2(block));
    check(cuMemAlloc_v2(&block, 2000)); // MARK in_handler
    std::printf("handled\n");
}

void inside_the_driver(int flags)
{
    primary_context();
    handle(SIGUSR1, allocate_in_handler, flags);
    check(cuMemFree_v2(allocate(kRaisingBytes)));
    allocate(3000);
}

void in_driver()
{
    inside_the_driver(0);
}

void on_alternate_stack()
{
    static char room[64 * 1024];
    stack_t stack{};
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    sigaltstack(&stack, nullptr);
    inside_the_driver(SA_ONSTACK);
}

void leave_handler(int, siginfo_t*, void*)
{
    siglongjmp(way_out, 1);
}

[[gnu::noinline]] void try_to_allocate()
{
    if (sigsetjmp(way_out, 1) == 0)
        allocate(kRaisingBytes);
    else
        std::printf("jumped\n");
}

[[gnu::noinline]] void allocate_deeper(int depth)
{
    if (depth > 0)
        allocate_deeper(depth - 1);
    else
        allocate(3000);
    std::fflush(stdout); // keeps the call from being a jump
}

// The call that it left is still there, as far as memory can tell: what comes next is deeper in the
// stack, then shallower.
void leave_driver()
{
    primary_context();
    handle(SIGUSR1, leave_handler);
    for (int round = 0; round < 3; ++round)
        try_to_allocate();
    allocate_deeper(10);
    allocate(4000);
}

// Left before the thread has written anything at all, as a program does that waits for a driver
// no longer than a second.
void leave_first_call()
{
    handle(SIGUSR1, leave_handler);
    try_to_allocate();
    primary_context();
    allocate_deeper(10);
    allocate(4000);
}

std::atomic<int> calls_in_handlers{0};

// Once each time, and not for ever: what a handler calls may take longer than the timer runs, and
// then nothing else would get on.
void signal_soon()
{
    if (calls_in_handlers >= 100)
        return;
    const itimerval timer{{0, 0}, {0, 100}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

// Only where neither the driver nor libc is interrupted: they would wait for themselves.
struct Range {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
};
Range tracer[2];

int find_tracer(dl_phdr_info* info, std::size_t, void*)
{
    const int which = std::strstr(info->dlpi_name, "libvramscope.so") ? 0
                      : std::strstr(info->dlpi_name, "libunwind.so")  ? 1
                                                                      : -1;
    for (int i = 0; which >= 0 && i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X))
            tracer[which] = {info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                             info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
                                 info->dlpi_phdr[i].p_memsz};
    return 0;
}

bool in_tracer(const void* context)
{
    const auto at = static_cast<std::uintptr_t>(
        static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
    return (at >= tracer[0].first && at < tracer[0].end) ||
           (at >= tracer[1].first && at < tracer[1].end);
}

void allocate_in_tracer(int, siginfo_t*, void* context)
{
    signal_soon();
    if (!in_tracer(context))
        return;
    calls_in_handlers += 2;
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, 1000));
    check(cuMemFree_v2(block));
    signal_soon();
}

void leave_tracer(int, siginfo_t*, void* context)
{
    signal_soon();
    if (in_tracer(context)) {
        ++calls_in_handlers;
        siglongjmp(way_out, 1);
    }
}

constexpr int kStorm = 30000;

void storm(void (*handler)(int, siginfo_t*, void*))
{
    primary_context();
    check(cuMemFree_v2(allocate(1000)));
    dl_iterate_phdr(find_tracer, nullptr);
    handle(SIGALRM, handler);
    signal_soon();
    for (static int round = 0; round < kStorm;
         ++round) // static, so that a jump does not take it back
        if (sigsetjmp(way_out, 1) == 0)
            check(cuMemFree_v2(allocate(1000 + static_cast<std::size_t>(round) % 50)));
    signal(SIGALRM, SIG_IGN);
    allocate(3000);
    std::fprintf(stderr, "%d calls in handlers\n", calls_in_handlers.load());
}

void storm_of_calls()
{
    storm(allocate_in_tracer);
}

void storm_of_jumps()
{
    storm(leave_tracer);
}

const Scene kScenes[] = {
    {"in_driver", in_driver},           {"on_alternate_stack", on_alternate_stack},
    {"leave_driver", leave_driver},     {"leave_first_call", leave_first_call},
    {"storm_of_calls", storm_of_calls}, {"storm_of_jumps", storm_of_jumps},
};

} // namespace

int main(int argc, char** argv)
{
    const int status = play_scene(kScenes, argc, argv);
    if (status == 0)
        std::printf("done\n");
    return status;
}
