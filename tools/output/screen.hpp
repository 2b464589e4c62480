// tools/output/screen.hpp — a terminal that is drawn on as a whole, and given back as it was.
//
// It uses the alternate screen, so that nothing of it stays; keys come one by one and are not
// shown. Signals that end us, stop us or tell of a new size are taken in wait() and nowhere else,
// so that the terminal is given back first. There is one screen at a time.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <termios.h>
#include <vector>

namespace vramscope {

class Screen {
public:
    enum class Event { time, resize, quit };

    Screen(); // stdin and stdout are terminals
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    std::size_t width() const;
    std::size_t height() const;
    void draw(const std::vector<std::string>& lines) const;

    // Waits until the time is over, the size has changed, or the user is done: q,
    // Ctrl-C, SIGTERM, SIGHUP.
    Event wait(std::chrono::milliseconds time);

private:
    void enter();
    void leave() const;
    Event take_signal();

    termios before_{};
    sigset_t mask_before_{};
    int signals_ = -1; // signalfd
};

} // namespace vramscope
