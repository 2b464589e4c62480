// tracker/log/process.hpp — what this process has: its log, clock, stacks, modules and lanes.
//
// State that a fork must not inherit is in a page that the kernel wipes for the child
// (MADV_WIPEONFORK: it works for clone() too, where pthread_atfork does not). In a child the tables
// are those of its parent until the lifecycle forgets them.
#pragma once

#include <atomic>

#include "tracker/capture/clock.hpp"
#include "tracker/capture/modules.hpp"
#include "tracker/capture/stack_table.hpp"
#include "tracker/log/lanes.hpp"
#include "tracker/log/log_file.hpp"
#include "tracker/log/thread.hpp"

namespace vramscope::log {

// What is in that page; it is all zero in the child of a fork.
struct Process {
    std::atomic<std::uint32_t> generation; // 0: no log is open, and what follows is not to be read
    std::atomic<bool> off;                 // the log could not be opened: tracing is off for good
    format::Clock clock;
    format::FileHeader* header;
};

// Points to that state, which is in our data at first, and in its page once the first log is
// opened. It is never null.
class ProcessPointer {
public:
    constexpr explicit ProcessPointer(Process* first) noexcept : pointer_(first) {}
    Process* operator->() const noexcept { return pointer_.load(std::memory_order_acquire); }

    // False: there is no memory for the page.
    bool move_to_page() noexcept;

private:
    std::atomic<Process*> pointer_;
};
extern constinit ProcessPointer process;

extern constinit LogFile log_file;
extern constinit capture::StackTable stack_table;
extern constinit capture::Modules modules;
extern constinit Lanes lanes;
extern constinit std::atomic<bool> verifying; // stacks are compared before they are unwound

void forget_process_of_parent() noexcept;

[[gnu::always_inline]] inline std::uint64_t now() noexcept
{
    return capture::read_ticks(process->clock);
}

[[gnu::always_inline]] inline bool is_ready(const Thread& thread) noexcept
{
    return thread.generation == process->generation.load(std::memory_order_acquire) &&
           thread.generation != 0;
}

// The header of this process's own log. Exit handlers run in every process that inherited them: a
// child of a fork without a log of its own has none, and one of vfork sees its parent's.
[[gnu::cold]] format::FileHeader* own_header() noexcept;

void renew_clock_pair() noexcept;
void count_lost(format::Lost reason) noexcept;
void note_log_full() noexcept; // once, in the header and on stderr: the log could not grow

} // namespace vramscope::log
