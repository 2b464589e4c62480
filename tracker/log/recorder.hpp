// tracker/log/recorder.hpp — what the hooks call: one function per thing that happens.
//
// A hook marks the thread with Inside, asks ready() once the driver call succeeded, and then
// records. The first ready() of a process opens the log, the first of a thread gives it a chunk. No
// function throws or blocks on another thread's driver call; none allocates with the program's
// malloc, but for the C library where it tells a new thread the bounds of its stack. A fault of
// ours is counted in the header (format::Lost) and told once. `ticks` come from now().
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "tracker/capture/clock.hpp"
#include "tracker/log/thread.hpp"

namespace vramscope::log {

// One hooked entry point, as the log names it. Its id is its index in the table.
struct Api {
    const char* name;
    format::Effect effect;
    format::Memory memory;
};

// State of this process. In a page that the kernel wipes in the child of a fork: all zero there.
struct Process {
    std::atomic<std::uint32_t> generation; // 0: no log is open, and what follows is not to be read
    std::atomic<bool> off;                 // the log could not be opened: tracing is off for good
    format::Clock clock;
    format::FileHeader* header;
};

// Where that state is: first in our data, from the opening of the first log on in its page. Never
// null.
class ProcessPointer {
public:
    constexpr explicit ProcessPointer(Process* first) noexcept : pointer_(first) {}
    Process* operator->() const noexcept { return pointer_.load(std::memory_order_acquire); }
    void move_to(Process* page) noexcept { pointer_.store(page, std::memory_order_release); }

private:
    std::atomic<Process*> pointer_;
};
extern constinit ProcessPointer process;

inline std::uint64_t now() noexcept
{
    return capture::read_ticks(process->clock);
}

// Called with the table of hooks when the log is opened, by the thread that opened it.
struct Opening {
    std::span<const Api> apis;
    void (*describe)(Thread& thread); // writes the info records that only the hooks can know
};

bool make_ready(Thread& thread, const Opening& opening) noexcept;

inline bool is_ready(const Thread& thread) noexcept
{
    return thread.generation == process->generation.load(std::memory_order_acquire) &&
           thread.generation != 0;
}

inline bool ready(Thread& thread, const Opening& opening) noexcept
{
    return is_ready(thread) || make_ready(thread, opening);
}

// Events. The thread must be ready.
void record_alloc(Thread& thread, const format::Alloc& event, const format::Place& place,
                  const CallSite& site) noexcept; // event.stack is filled in here
// A free is told twice: begin_free() before the driver's call takes its time and its stack and
// leaves them in the chunk's header, should the process end in between; then one of the others.
void begin_free(Thread& thread, format::Free& event, const CallSite& site) noexcept;
void record_free(Thread& thread, const format::Free& event) noexcept;
void abandon_free(Thread& thread) noexcept; // the driver refused it
void record_failure(Thread& thread, std::uint64_t api, int result, std::uint64_t address,
                    std::uint64_t bytes, const CallSite& site) noexcept;
void record_map(Thread& thread, std::uint64_t api, std::uint64_t address, std::uint64_t bytes,
                std::uint64_t handle, const CallSite& site) noexcept;
void record_unmap(Thread& thread, std::uint64_t api, std::uint64_t ticks, std::uint64_t address,
                  std::uint64_t bytes) noexcept;
void record_retain(Thread& thread, std::uint64_t api, std::uint64_t handle) noexcept;
void record_shared(Thread& thread, std::uint64_t api, std::uint64_t address,
                   const CallSite& site) noexcept;
void record_trim(Thread& thread, std::uint64_t api, std::uint64_t pool, std::uint64_t keep_bytes,
                 const CallSite& site) noexcept;
// What a pool gives out. It is defined when the pool is first seen, which may be long after its
// creation.
struct Pool {
    std::uint64_t handle;
    int location_type; // a CUmemLocationType
    int location;
    bool managed;
};
void record_pool(Thread& thread, const Pool& pool) noexcept;
void record_context(Thread& thread, std::uint64_t id, std::uint64_t handle, int device,
                    bool primary) noexcept;
void record_context_gone(Thread& thread, std::uint64_t api, std::uint64_t ticks, std::uint64_t id,
                         std::uint32_t stack) noexcept;
// The stack of an event whose record is written under a lock, where nothing may be unwound: it is
// taken before. 0: it could not be taken.
std::uint32_t record_stack(Thread& thread, const CallSite& site) noexcept;
void record_device(Thread& thread, int ordinal, std::uint64_t total_bytes,
                   std::string_view name) noexcept;
void record_info(Thread& thread, std::string_view key, std::string_view value) noexcept;
void record_api(Thread& thread, std::uint64_t id, const Api& api) noexcept;
void record_thread(Thread& thread, std::uint32_t index, std::uint32_t tid,
                   std::string_view name) noexcept;
void record_range(Thread& thread, std::string_view name) noexcept;

// What calls of one entry point took in the driver.
struct DriverTime {
    std::uint64_t api;
    std::uint64_t calls;
    std::uint64_t ticks;
    std::uint64_t longest;
};
void record_driver_time(Thread& thread, std::uint64_t ticks, const DriverTime& time) noexcept;

// Ranges and marks work at any time; before the thread is ready they are remembered or dropped.
void push_range(std::string_view name) noexcept;
void pop_range() noexcept;
void mark(std::string_view name) noexcept;

// Writes which libraries came and went since the last time.
void note_modules(Thread& thread) noexcept;
// Code is gone: what unwinding learnt about its addresses must not be used again. Any thread, ready
// or not.
void code_unloaded() noexcept;

void count_lost(format::Lost reason) noexcept;

} // namespace vramscope::log
