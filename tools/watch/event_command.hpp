// tools/watch/event_command.hpp — the command of `--on`, run for one event after the other.
//
// No shell reads it, and it has no arguments. It finds in its environment what happened:
// VRAMSCOPE_EVENT, VRAMSCOPE_EVENT_PID, VRAMSCOPE_EVENT_TEXT, and VRAMSCOPE_SNAPSHOT, a copy of a
// log as it was then, if there is one. What it prints goes to stderr; its stdin is empty.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <sys/types.h>
#include <utility>

namespace vramscope {

struct CommandCall {
    std::string event;
    pid_t pid = 0;
    std::string text;
    std::string snapshot; // empty: there is none
};

class EventCommand {
public:
    explicit EventCommand(std::string command) : command_(std::move(command)) {}

    // It begins once those before have ended. At most kMostWaiting wait: of more, that is said.
    void call(CommandCall call);
    // Takes note of an end, and begins the next.
    void look();
    bool is_running() const { return running_ > 0; }
    // Waits for all of them, but not longer: what runs on then is left to itself.
    void finish(std::chrono::seconds most);

private:
    static constexpr std::size_t kMostWaiting = 16;

    void begin_next();
    void note_end(int wait_status);

    std::string command_;
    std::deque<CommandCall> waiting_;
    pid_t running_ = -1; // -1: none does
};

} // namespace vramscope
