// tools/output/messages.cpp — stderr through spdlog.
#include "tools/output/messages.hpp"

#include <cstdlib>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <string_view>
#include <unistd.h>

#include "report/words/words.hpp"

namespace vramscope {
namespace {

spdlog::logger& logger()
{
    static const auto kept = [] {
        const auto mode =
            wants_color(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
        auto made = spdlog::stderr_color_st("vramscope", mode);
        made->set_pattern("vramscope: %v");
        made->flush_on(spdlog::level::trace);
        return made;
    }();
    return *kept;
}

// The level's word is coloured, where colours are wanted; a plain line has no word.
void write(spdlog::level::level_enum level, const char* pattern, const std::string& line)
{
    logger().set_pattern(pattern);
    logger().log(level, report::terminal_safe(line));
}

} // namespace

void say(const std::string& line)
{
    write(spdlog::level::info, "vramscope: %v", line);
}
void warn(const std::string& line)
{
    write(spdlog::level::warn, "vramscope: %^warning:%$ %v", line);
}
void fail(const std::string& line)
{
    write(spdlog::level::err, "vramscope: %^error:%$ %v", line);
}

bool can_draw(int descriptor)
{
    const char* terminal = std::getenv("TERM");
    return terminal && std::string_view(terminal) != "dumb" && ::isatty(descriptor);
}

bool wants_color(int descriptor)
{
    const char* no_color = std::getenv("NO_COLOR");
    return !(no_color && *no_color) && can_draw(descriptor);
}

} // namespace vramscope
