// tools/output/screen.cpp — termios, escape sequences that every terminal of today knows, signalfd.
#include "tools/output/screen.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace vramscope {
namespace {

// Alternate screen, no cursor, no wrapping of long lines; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

void put(std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            return; // the terminal is gone
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

// How many bytes of a key's sequence are here, which begins behind the escape: "[A", "OA", "[1;5C".
std::size_t sequence_bytes(std::string_view bytes)
{
    if (bytes.empty() || (bytes[0] != '[' && bytes[0] != 'O'))
        return 0;
    std::size_t at = 1;
    while (at < bytes.size() && (bytes[at] < '@' || bytes[at] > '~'))
        ++at;
    return std::min(at + 1, bytes.size());
}

winsize size_of_terminal()
{
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    return size;
}

} // namespace

std::deque<int> keys_of(std::string_view bytes)
{
    constexpr std::string_view kArrows = "ABDC"; // as key::kUp and those after it
    std::deque<int> keys;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const char byte = bytes[at];
        const std::size_t sequence = byte == '\x1b' ? sequence_bytes(bytes.substr(at + 1)) : 0;
        if (sequence == 0) {
            const bool enter = byte == '\r';
            const bool backspace = byte == '\b';
            keys.push_back(enter       ? key::kEnter
                           : backspace ? key::kBackspace
                                       : static_cast<unsigned char>(byte));
            continue;
        }
        at += sequence;
        const std::size_t arrow = kArrows.find(bytes[at]);
        if (sequence == 2 && arrow != std::string_view::npos)
            keys.push_back(key::kUp + static_cast<int>(arrow));
    }
    return keys;
}

Screen::Screen()
{
    sigset_t taken;
    sigemptyset(&taken);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP})
        sigaddset(&taken, number);
    ::sigprocmask(SIG_BLOCK, &taken, &mask_before_);
    signals_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    ::tcgetattr(STDIN_FILENO, &before_);
    enter();
}

Screen::~Screen()
{
    leave();
    ::close(signals_);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Screen::enter()
{
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO); // Ctrl-C stays a signal
    silent.c_cc[VMIN] = 0;
    silent.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &silent);
    put(kEnter);
}

void Screen::leave() const
{
    put(kLeave);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::size_t Screen::width() const
{
    return size_of_terminal().ws_col;
}

std::size_t Screen::height() const
{
    return size_of_terminal().ws_row;
}

// In place, line by line, and in one write: nothing flickers.
void Screen::draw(const std::vector<std::string>& lines) const
{
    std::string text = "\x1b[H";
    const std::size_t shown = std::min(lines.size(), height());
    for (std::size_t at = 0; at < shown; ++at)
        text += lines[at] + "\x1b[K" + (at + 1 < shown ? "\r\n" : "");
    put(text + "\x1b[J");
}

Screen::Event Screen::take_signal()
{
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info))
        return Event::time;
    if (info.ssi_signo == SIGWINCH)
        return Event::resize;
    if (info.ssi_signo != SIGTSTP)
        return Event::quit;
    leave();
    ::raise(SIGSTOP); // the shell has the terminal until it lets us go on
    ::tcgetattr(STDIN_FILENO, &before_);
    enter();
    return Event::resize;
}

Screen::Event Screen::wait(std::chrono::milliseconds time)
{
    const auto end = std::chrono::steady_clock::now() + time;
    for (;;) {
        if (!keys_.empty())
            return Event::key;
        const auto left = std::max(
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()),
            std::chrono::milliseconds(0));
        pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}};
        if (::poll(sources, 2, static_cast<int>(left.count())) <= 0) {
            if (left.count() == 0)
                return Event::time;
            continue;
        }
        if (sources[1].revents != 0)
            return take_signal();
        char bytes[64];
        const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (got <= 0)
            return Event::quit; // the terminal is gone
        keys_ = keys_of({bytes, static_cast<std::size_t>(got)});
    }
}

int Screen::take_key()
{
    const int key = keys_.front();
    keys_.pop_front();
    return key;
}

} // namespace vramscope
