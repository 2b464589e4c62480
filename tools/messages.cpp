// tools/messages.cpp — stderr through spdlog.
#include "tools/messages.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

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
    logger().log(level, printable(line));
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

std::string printable(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool c1 = byte == 0xc2 && i + 1 < text.size() &&
                        (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
        if (byte < 0x20 || byte == 0x7f || c1)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += text[i];
    }
    return out;
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
