// report/export/utf8.hpp — the characters of a text that claims to be UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vramscope::report {

// Bytes of the character at the start of `text`, which is not empty, and its code point in `point`;
// 0 if there is none: a byte that leads nothing, an overlong form, a surrogate.
std::size_t utf8_character(std::string_view text, std::uint32_t& point) noexcept;

} // namespace vramscope::report
