// tracker/log/process.cpp — the page that a fork wipes, and the counters in the log's header.
#include "tracker/log/process.hpp"

#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracker/capture/glibc.hpp"
#include "tracker/environment/tell.hpp"

namespace vramscope::log {
namespace {

constinit Process inert{};
constinit std::atomic<bool> told_full{false};

} // namespace

constinit ProcessPointer process(&inert);
constinit LogFile log_file;
constinit capture::StackTable stack_table;
constinit capture::Modules modules;
constinit Lanes lanes;
constinit std::atomic<bool> verifying{false};

// The kernel gives the child of a fork a page of zeros in its place. Where it cannot (before
// Linux 4.14), a handler does it, which covers fork() if not clone().
bool ProcessPointer::move_to_page() noexcept
{
    if (pointer_.load(std::memory_order_acquire) != &inert)
        return true;
    constexpr std::size_t kPage = 4096;
    void* page = capture::map_pages(kPage);
    if (!page)
        return false;
    if (::madvise(page, kPage, MADV_WIPEONFORK) != 0)
        ::__register_atfork(
            nullptr, nullptr,
            [] { std::memset(static_cast<void*>(process.operator->()), 0, kPage); }, &__dso_handle);
    pointer_.store(static_cast<Process*>(page), std::memory_order_release);
    return true;
}

void forget_process_of_parent() noexcept
{
    stack_table.reset_after_fork();
    modules.reset_after_fork();
    lanes.reset_after_fork();
    log_file = {};
    told_full.store(false);
}

format::FileHeader* own_header() noexcept
{
    if (process.operator->() == &inert)
        return nullptr; // to look into it would be a page fault more for a process without CUDA
    format::FileHeader* header = process->generation ? process->header : nullptr;
    return header && header->pid == static_cast<std::uint32_t>(::getpid()) ? header : nullptr;
}

void renew_clock_pair() noexcept
{
    format::FileHeader* header = process->header;
    std::atomic_ref(header->latest_ticks).store(now(), std::memory_order_relaxed);
    std::atomic_ref(header->latest_ns)
        .store(capture::clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
}

void count_lost(format::Lost reason) noexcept
{
    if (process->generation)
        std::atomic_ref(process->header->lost[static_cast<std::size_t>(reason)])
            .fetch_add(1, std::memory_order_relaxed);
}

void note_log_full() noexcept
{
    if (told_full.exchange(true))
        return;
    std::atomic_ref(process->header->full_ticks).store(now(), std::memory_order_relaxed);
    if (log_file.at_limit())
        tell("the log %.500s has grown to VRAMSCOPE_MAX_LOG; further events are counted as lost",
             log_file.path());
    else
        tell("cannot write to the log %.500s: %s; further events are counted as lost",
             log_file.path(),
             log_file.still_ours() ? std::strerror(errno) : "the program closed its descriptor");
}

} // namespace vramscope::log
