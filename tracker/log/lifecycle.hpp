// tracker/log/lifecycle.hpp — the log's life in a process: opened, joined by threads, left by fork,
// ended by exit.
//
// Everything here is cold. State that a fork must not inherit is in a page that the kernel wipes
// for the child (MADV_WIPEONFORK: it works for clone() too, where pthread_atfork does not).
#pragma once

#include "tracker/capture/modules.hpp"
#include "tracker/capture/stack_table.hpp"
#include "tracker/log/log_file.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::log {

class Lifecycle {
public:
    // Opens the log if this process has none yet. False: tracing is off.
    static bool open(Thread& thread, const Opening& opening) noexcept;
    // Gives the thread a chunk of the log that is open.
    static bool join(Thread& thread) noexcept;
    // Gives the chunk back; the thread may come again.
    static void leave(Thread& thread) noexcept;

    // For ranges of a thread that has not joined; it goes when the thread joins or ends.
    static void make_room_for_pending(Thread& thread) noexcept;

    // How the process ends, as it happens. `status` is the exit status.
    static void exit_began(int status) noexcept;
    static void ended(format::End how, int status) noexcept;

    static LogFile& file() noexcept;
    static capture::StackTable& stack_table() noexcept;
    static capture::Modules& modules() noexcept;

    static bool verifying() noexcept;
    static void stop_verifying() noexcept;
    static void renew_clock_pair() noexcept;
    static void tell_once_log_full() noexcept;
    static std::uint32_t current_tid() noexcept;
};

} // namespace vramscope::log
