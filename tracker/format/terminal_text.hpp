// tracker/format/terminal_text.hpp — text from outside on its way to a terminal.
//
// Every name, path and value that we print goes through here, in the traced process and out of it.
// What a terminal could take for a command (control characters, C1), what turns or hides the text
// around it (bidirectional marks, invisible characters), and bytes that are not UTF-8 are written
// as \xNN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vramscope::format {

// Bytes of the character at the start of `text`, which is not empty, and its code point in `point`;
// 0 if there is none: a byte that leads nothing, an overlong form, a surrogate.
constexpr std::size_t utf8_character(std::string_view text, std::uint32_t& point) noexcept
{
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
    const std::uint8_t lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() < length)
        return 0;
    point = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t at = 1; at < length; ++at) {
        if ((byte(at) & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (byte(at) & 0x3fu);
    }
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool overlong = length > 1 && point < kLeast[length];
    return overlong || (point >= 0xd800 && point < 0xe000) || point > 0x10ffff ? 0 : length;
}

constexpr bool misleads_a_terminal(std::uint32_t point) noexcept
{
    constexpr std::uint32_t kRanges[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},      {0xad, 0xad},
                                            {0x061c, 0x061c}, {0x180e, 0x180e},  {0x200b, 0x200f},
                                            {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff},
                                            {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (const auto& [first, last] : kRanges)
        if (point >= first && point <= last)
            return true;
    return false;
}

// Hands the safe text on, character by character: put(char).
template <class Put>
constexpr void put_terminal_safe(std::string_view text, Put put)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    while (!text.empty()) {
        std::uint32_t point = 0;
        const std::size_t length = utf8_character(text, point);
        const bool as_it_is = length > 0 && !misleads_a_terminal(point);
        const std::size_t taken = length > 0 ? length : 1;
        for (const char c : text.substr(0, taken)) {
            if (as_it_is) {
                put(c);
                continue;
            }
            const auto byte = static_cast<std::uint8_t>(c);
            put('\\');
            put('x');
            put(kDigits[byte >> 4]);
            put(kDigits[byte & 0xf]);
        }
        text.remove_prefix(taken);
    }
}

// The same as a C string in `out`; what does not fit is left out.
constexpr void copy_terminal_safe(std::string_view text, char* out, std::size_t capacity) noexcept
{
    std::size_t used = 0;
    put_terminal_safe(text, [&](char c) {
        if (used + 1 < capacity)
            out[used++] = c;
    });
    out[used] = '\0';
}

} // namespace vramscope::format
