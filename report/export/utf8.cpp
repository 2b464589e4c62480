// report/export/utf8.cpp — see utf8.hpp.
#include "report/export/utf8.hpp"

#include <array>

namespace vramscope::report {

std::size_t utf8_character(std::string_view text, std::uint32_t& point) noexcept
{
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
    const std::uint8_t lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() < length)
        return 0;
    point = length == 1 ? lead : lead & (0x7f >> length);
    for (std::size_t at = 1; at < length; ++at) {
        if ((byte(at) & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (byte(at) & 0x3f);
    }
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const bool overlong = length > 1 && point < kLeast[length];
    return overlong || (point >= 0xd800 && point < 0xe000) || point > 0x10ffff ? 0 : length;
}

} // namespace vramscope::report
