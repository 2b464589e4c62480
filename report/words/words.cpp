// report/words/words.cpp — see words.hpp.
#include "report/words/words.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tracker/format/terminal_text.hpp"

namespace vramscope::report {

namespace {

// Replaces what stands between the outermost `open` and `close` by "...".
std::string elide_inside(std::string_view name, char open, char close)
{
    std::string out;
    int depth = 0;
    for (const char c : name) {
        if (c == close && depth > 0 && --depth == 0)
            out += "...";
        if (depth == 0)
            out += c;
        if (c == open && ++depth > 1)
            continue;
    }
    return depth == 0 ? out : std::string(name);
}

// The part of the name in which `differs` lies, and what comes before its arguments if that fits.
std::string shorten_around(std::string_view name, std::size_t differs, std::size_t width)
{
    constexpr std::string_view kDots = "...";
    constexpr std::size_t kLeastPart = 8;
    const std::size_t begin = name.find_last_of("<(, ", differs) + 1; // npos + 1 is 0
    const std::string_view head = name.substr(0, name.find_first_of("<(") + 1);
    const bool head_fits = columns(head) + kDots.size() + kLeastPart <= width;
    if (begin == 0 || (begin == head.size() && head_fits) || width < kDots.size() + kLeastPart)
        return cut_at_end(name, width);
    const std::string shorter = fmt::format("{}{}", head_fits ? head : "", kDots);
    const std::string_view part = name.substr(begin);
    const std::size_t room = width - columns(shorter);
    return shorter + (columns(part) <= room ? std::string(part) : cut_at_end(part, room));
}

} // namespace

std::string cut_at_end(std::string_view text, std::size_t width)
{
    std::size_t end = 0;
    for (std::size_t used = 0; end < text.size() && used + 3 < width; ++used) {
        ++end;
        while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80)
            ++end;
    }
    while (end > 0 && std::string_view(".<(").find(text[end - 1]) != std::string_view::npos)
        --end; // what was elided before
    return std::string(text.substr(0, end)) + "...";
}

std::string human_bytes(std::uint64_t bytes)
{
    constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024)
        return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    std::string number = fmt::format("{:.1f}", value);
    if (number.ends_with(".0"))
        number.resize(number.size() - 2);
    return number + " " + kUnits[unit];
}

std::string impossible_size(std::uint64_t bytes)
{
    const bool negative = bytes > INT64_MAX;
    return "no device has " + human_bytes(bytes) +
           (negative ? ", which is -" + human_bytes(0 - bytes) + " as a signed number" : "");
}

std::string grouped(std::uint64_t number)
{
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view noun)
{
    if (number != 1 && noun.ends_with("ry"))
        return fmt::format("{} {}ies", grouped(number), noun.substr(0, noun.size() - 1));
    const char* const plural = noun.ends_with("ss") ? "es" : "s";
    return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : plural);
}

std::string tries_of(std::uint64_t tries, std::uint64_t least_bytes, std::uint64_t most_bytes)
{
    const std::string range = least_bytes == most_bytes
                                  ? human_bytes(most_bytes)
                                  : human_bytes(least_bytes) + " to " + human_bytes(most_bytes);
    const std::string size = most_bytes == 0    ? ""
                             : least_bytes == 0 ? "up to " + human_bytes(most_bytes)
                                                : range;
    if (tries == 1 && !size.empty())
        return size;
    return fmt::format("{} {}{}{}", grouped(tries), tries == 1 ? "try" : "tries",
                       size.empty() ? "" : " of ", size);
}

std::string human_time(std::uint64_t ns)
{
    if (ns > 0 && ns < 1000)
        return fmt::format("{} ns", ns);
    if (ns < 1'000'000)
        return fmt::format("{} us", ns / 1000);
    if (ns < 1'000'000'000)
        return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
    return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
}

// Up to twice a unit in the one before it, which is the more exact.
std::string rough_time(std::uint64_t ns)
{
    const double seconds = static_cast<double>(ns) / 1e9;
    constexpr double kMinute = 60;
    constexpr double kHour = 60 * kMinute;
    constexpr double kDay = 24 * kHour;
    if (seconds < 2 * kMinute)
        return fmt::format("{:.0f} s", std::max(seconds, 1.0));
    if (seconds < 2 * kHour)
        return fmt::format("{:.0f} min", seconds / kMinute);
    if (seconds < 2 * kDay)
        return fmt::format("{:.1f} h", seconds / kHour);
    return grouped(static_cast<std::uint64_t>(seconds / kDay + 0.5)) + " days";
}

std::string terminal_safe(std::string_view text)
{
    std::string safe;
    safe.reserve(text.size());
    format::put_terminal_safe(text, [&safe](char c) { safe += c; });
    return safe;
}

std::string csv_text(std::string_view text)
{
    std::string safe = terminal_safe(text);
    if (safe.find_first_of(",\"\n\r") == safe.npos)
        return safe;
    for (std::size_t at = 0; (at = safe.find('"', at)) != safe.npos; at += 2)
        safe.insert(at, 1, '"');
    return '"' + safe + '"';
}

std::size_t columns(std::string_view text) noexcept
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<std::uint8_t>(c) & 0xc0) != 0x80;
    }));
}

std::string shorten_function(std::string_view name, std::size_t width)
{
    std::string shorter(name);
    for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'<', '>'}}) {
        if (columns(shorter) <= width)
            return shorter;
        shorter = elide_inside(shorter, open, close);
    }
    return columns(shorter) <= width ? shorter : cut_at_end(shorter, width);
}

std::string shorten_function(std::string_view name, const std::vector<std::string>& beside,
                             std::size_t width)
{
    const std::string shorter = shorten_function(name, width);
    std::size_t differs = 0;
    for (const std::string& other : beside)
        if (other != name && shorten_function(other, width) == shorter) {
            const auto end = std::mismatch(name.begin(), name.end(), other.begin(), other.end());
            differs = std::max(differs, static_cast<std::size_t>(end.first - name.begin()));
        }
    return differs == 0 ? shorter : shorten_around(name, differs, width);
}

std::string shorten_path(std::string_view path, std::size_t width)
{
    if (columns(path) <= width)
        return std::string(path);
    std::string_view tail = path;
    for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
        tail = path.substr(slash);
        if (columns(tail) + 3 <= width)
            return "..." + std::string(tail);
    }
    return cut_at_end(tail.substr(tail.find_first_not_of('/')), width);
}

std::string hex_digits(std::string_view bytes)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const char c : bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 0xf];
    }
    return hex;
}

std::string shell_quoted(std::string_view text)
{
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_-./,:+=@%").find(c) != std::string_view::npos;
    });
    if (plain)
        return std::string(text);
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

} // namespace vramscope::report
