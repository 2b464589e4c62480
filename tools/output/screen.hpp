// tools/output/screen.hpp — a terminal that is drawn on as a whole, and given back as it was.
//
// It uses the alternate screen, so that nothing of it stays; keys come one by one and are not
// shown. Signals that end us, stop us or tell of a new size are taken in wait() and nowhere else,
// so that the terminal is given back first. There is one screen at a time.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <termios.h>
#include <vector>

namespace vramscope {

// What a key says: a byte of UTF-8, or one of these.
namespace key {
inline constexpr int kUp = 256;
inline constexpr int kDown = 257;
inline constexpr int kLeft = 258;
inline constexpr int kRight = 259;
inline constexpr int kEnter = '\n';
inline constexpr int kEscape = '\x1b';
inline constexpr int kBackspace = '\x7f';
} // namespace key

// The keys that a terminal sent, in their order; sequences that nobody here knows are left out.
std::deque<int> keys_of(std::string_view bytes);

class Screen {
public:
    enum class Event { time, resize, key, quit };

    Screen(); // stdin and stdout are terminals
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    std::size_t width() const;
    std::size_t height() const;
    void draw(const std::vector<std::string>& lines) const;

    // Waits until the time is over, the size has changed, a key was pressed, or the user is done:
    // Ctrl-C, SIGTERM, SIGHUP, or the terminal is gone.
    Event wait(std::chrono::milliseconds time);
    int take_key(); // behind Event::key

private:
    void enter();
    void leave() const;
    Event take_signal();

    termios before_{};
    sigset_t mask_before_{};
    int signals_ = -1; // signalfd
    std::deque<int> keys_;
};

} // namespace vramscope
