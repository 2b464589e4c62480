// tracker/format/size_text.hpp — a size in bytes as people write it, read in one way everywhere.
//
// Digits, with at most one point between digits, then a unit: nothing or B for bytes; or K, M, G or
// T, small or large, alone or followed by B or iB, for powers of 1024. "1.5GiB" is 1610612736. A
// fraction needs such a unit, and what it leaves of a byte is dropped. Signs, spaces, other units
// ("24Gib" would be bits) and what does not fit into 64 bits are refused. It uses no floating
// point, no locale and no memory, as the traced process reads its settings with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vramscope::format {

// The power of two that a unit stands for; nothing if it is none.
constexpr std::optional<unsigned> unit_shift(std::string_view unit) noexcept
{
    if (unit.empty() || unit == "B")
        return 0;
    constexpr std::string_view kLetters = "kmgtKMGT";
    const std::size_t letter = kLetters.find(unit.front());
    unit.remove_prefix(1);
    if (letter == kLetters.npos || (!unit.empty() && unit != "B" && unit != "iB"))
        return std::nullopt;
    return static_cast<unsigned>(10 * (letter % 4 + 1));
}

// Cuts the digits off the beginning of `text`.
constexpr std::string_view take_digits(std::string_view& text) noexcept
{
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9')
        ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

constexpr std::optional<std::uint64_t> read_size(std::string_view text) noexcept
{
    const std::string_view whole = take_digits(text);
    const bool point = !text.empty() && text.front() == '.';
    text.remove_prefix(point ? 1 : 0);
    const std::string_view fraction = point ? take_digits(text) : std::string_view();
    const std::optional<unsigned> shift = unit_shift(text);
    if (whole.empty() || !shift || (point && (fraction.empty() || *shift == 0)))
        return std::nullopt;
    std::uint64_t units = 0;
    for (const char digit : whole) {
        const auto value = static_cast<std::uint64_t>(digit - '0');
        if (units > (~std::uint64_t{0} - value) / 10)
            return std::nullopt;
        units = 10 * units + value;
    }
    if (units > ~std::uint64_t{0} >> *shift)
        return std::nullopt;
    // From the last digit to the first, each division drops what is less than a byte: the result is
    // that of one exact division, however many digits there are.
    std::uint64_t part = 0;
    for (std::size_t at = fraction.size(); at > 0; --at)
        part = ((static_cast<std::uint64_t>(fraction[at - 1] - '0') << *shift) + part) / 10;
    return (units << *shift) + part;
}

} // namespace vramscope::format
