// tools/output/messages.cpp — stderr through spdlog.
#include "tools/output/messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "report/words/words.hpp"

namespace vramscope {
namespace {

// What stands before a line: the time since the command began before a line of --verbose.
class LevelWord : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
                spdlog::memory_buf_t& line) override
    {
        using std::chrono::duration;
        const std::string word =
            message.level == spdlog::level::err    ? "error:"
            : message.level == spdlog::level::warn ? "warning:"
            : message.level == spdlog::level::debug
                ? fmt::format("{:.3f} s:", duration<double>(message.time - begin_).count())
                : "";
        if (word.empty())
            return;
        message.color_range_start = line.size();
        line.append(word.data(), word.data() + word.size());
        message.color_range_end = line.size();
        line.push_back(' ');
    }
    std::unique_ptr<custom_flag_formatter> clone() const override
    {
        return std::make_unique<LevelWord>(*this);
    }

private:
    spdlog::log_clock::time_point begin_ = spdlog::log_clock::now();
};

Color wanted_color = Color::automatic;

spdlog::logger& logger()
{
    static const auto kept = [] {
        const auto mode =
            wants_color(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
        auto made = spdlog::stderr_color_st("vramscope", mode);
        auto formatter = std::make_unique<spdlog::pattern_formatter>();
        formatter->add_flag<LevelWord>('*').set_pattern("vramscope: %*%v");
        made->set_formatter(std::move(formatter));
        made->flush_on(spdlog::level::trace);
        return made;
    }();
    return *kept;
}

void write(spdlog::level::level_enum level, const std::string& line)
{
    if (logger().should_log(level))
        logger().log(level, report::terminal_safe(line));
}

} // namespace

void be_verbose()
{
    logger().set_level(spdlog::level::debug);
}
void detail(const std::string& line)
{
    write(spdlog::level::debug, line);
}
void say(const std::string& line)
{
    write(spdlog::level::info, line);
}
void warn(const std::string& line)
{
    write(spdlog::level::warn, line);
}
void fail(const std::string& line)
{
    write(spdlog::level::err, line);
}

bool can_draw(int descriptor)
{
    const char* terminal = std::getenv("TERM");
    return terminal && std::string_view(terminal) != "dumb" && ::isatty(descriptor);
}

std::size_t terminal_columns(int descriptor)
{
    constexpr std::size_t kLeast = 40;
    constexpr std::size_t kMost = 1000;
    std::size_t columns = 0;
    winsize size{};
    if (const char* const told = std::getenv("COLUMNS"))
        columns = std::min<std::size_t>(std::strtoul(told, nullptr, 10), kMost);
    if (columns < kLeast && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    return columns < kLeast ? 0 : columns;
}

bool can_show_blocks(int descriptor)
{
    if (!can_draw(descriptor))
        return false;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const told = std::getenv(name);
        if (!told || !*told)
            continue;
        return ::strcasestr(told, "utf-8") || ::strcasestr(told, "utf8");
    }
    return false;
}

void use_color(Color color)
{
    wanted_color = color;
}

bool wants_color(int descriptor)
{
    const char* no_color = std::getenv("NO_COLOR");
    const bool by_itself = !(no_color && *no_color) && can_draw(descriptor);
    return wanted_color == Color::automatic ? by_itself : wanted_color == Color::always;
}

} // namespace vramscope
