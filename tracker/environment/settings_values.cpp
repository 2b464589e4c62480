// tracker/environment/settings_values.cpp — the texts of settings as values.
#include "tracker/environment/settings_values.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "tracker/format/size_text.hpp"

namespace vramscope::log {
namespace {

bool is(const char* text, const char* word) noexcept
{
    return std::strcmp(text, word) == 0;
}

template <class Enum, std::size_t kRows>
bool read_word(const format::Word<Enum> (&rows)[kRows], const char* text, Enum& value) noexcept
{
    for (const format::Word<Enum>& row : rows)
        if (is(text, row.word)) {
            value = row.value;
            return true;
        }
    return false;
}

// Reads digits and moves `text` past them. False: there are none, or too many.
bool take_number(const char*& text, std::uint64_t& number) noexcept
{
    const char* const begin = text;
    number = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        const auto digit = static_cast<unsigned>(*text - '0');
        if (number > (~std::uint64_t{0} - digit) / 10)
            return false;
        number = 10 * number + digit;
    }
    return text != begin;
}

bool read_number(const char* text, std::uint64_t& number) noexcept
{
    return take_number(text, number) && !*text;
}

// Digits with at most one point; "1e-1", "inf" and what a locale makes of them are not valid.
bool read_decimal(const char* text, double& number) noexcept
{
    double unit = 0; // unit of the next digit after the point; 0: before it
    bool digits = false;
    number = 0;
    for (; *text; ++text) {
        if (*text == '.' && unit == 0) {
            unit = 0.1;
            continue;
        }
        if (*text < '0' || *text > '9')
            return false;
        digits = true;
        const int digit = *text - '0';
        number = unit == 0 ? 10 * number + digit : number + unit * digit;
        unit /= 10;
    }
    return digits;
}

bool is_division(std::uint64_t number) noexcept
{
    return number <= 128 && std::has_single_bit(number);
}

// One "KEY:N" of a list, up to the , or ] after it.
bool take_interval(const char*& text, Divisions::Value& value, std::size_t& last,
                   bool first) noexcept
{
    std::uint64_t mebibytes = 0;
    const bool above = *text == '>';
    if (above)
        ++text;
    else if (!take_number(text, mebibytes) || !std::has_single_bit(mebibytes))
        return false;
    std::uint64_t divisions = 0;
    if (*text++ != ':' || !take_number(text, divisions) ||
        (divisions != 0 && !is_division(divisions)))
        return false;
    const auto steps = static_cast<std::uint8_t>(divisions);
    if (above) {
        std::fill(value.begin() + static_cast<std::ptrdiff_t>(last), value.end(), steps);
        return true;
    }
    last = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(mebibytes)),
                                 value.size() - 1);
    if (first)
        std::fill_n(value.begin(), last, steps);
    value[last] = steps;
    return true;
}

bool read_list(const char* text, Divisions::Value& value) noexcept
{
    std::size_t last = 0;
    bool first = true;
    do {
        ++text; // past the [ or the ,
        if (!take_interval(text, value, last, first))
            return false;
        first = false;
    } while (*text == ',');
    return is(text, "]");
}

} // namespace

bool Text::read(const char* text, Value& value) noexcept
{
    const std::size_t length = std::strlen(text);
    if (length >= sizeof value)
        return false;
    std::memcpy(value, text, length + 1);
    return true;
}

bool Depth::read(const char* text, Value& value) noexcept
{
    std::uint64_t number = 0;
    if (!read_number(text, number) || number < 1 || number > 256)
        return false;
    value = static_cast<unsigned>(number);
    return true;
}

bool Unwinder::read(const char* text, Value& value) noexcept
{
    return read_word(capture::kUnwinders, text, value);
}

bool Switch::read(const char* text, Value& value) noexcept
{
    value = is(text, "on");
    return value || is(text, "off");
}

bool Mode::read(const char* text, Value& value) noexcept
{
    return read_word(kPoolModes, text, value);
}

bool Sync::read(const char* text, Value& value) noexcept
{
    value = is(text, "strict");
    return value || is(text, "lazy");
}

bool Size::read(const char* text, Value& value) noexcept
{
    value = kNoBytes;
    if (is(text, "off"))
        return true;
    const std::optional<std::uint64_t> bytes = format::read_size(text);
    value = bytes.value_or(kNoBytes);
    return value != kNoBytes;
}

bool SizeOrPeak::read(const char* text, Value& value) noexcept
{
    value = kPeakBytes;
    return is(text, "peak") || (Size::read(text, value) && value != kPeakBytes);
}

bool Limit::read(const char* text, Value& value) noexcept
{
    return Size::read(text, value) && value >= std::uint64_t{1} << 20;
}

bool Megabytes::read(const char* text, Value& value) noexcept
{
    value = kNoBytes;
    if (is(text, "off"))
        return true;
    std::uint64_t number = 0;
    if (!read_number(text, number) || number < 20)
        return false;
    value = number < kNoBytes >> 20 ? number << 20 : kNoBytes;
    return true;
}

bool Divisions::read(const char* text, Value& value) noexcept
{
    value = {};
    if (is(text, "off"))
        return true;
    if (*text == '[')
        return read_list(text, value);
    std::uint64_t number = 0;
    if (!read_number(text, number) || !is_division(number))
        return false;
    value.fill(static_cast<std::uint8_t>(number));
    return true;
}

bool Threshold::read(const char* text, Value& value) noexcept
{
    value = 0;
    return is(text, "off") || (read_decimal(text, value) && value > 0 && value < 1);
}

bool Fraction::read(const char* text, Value& value) noexcept
{
    value = 0;
    return is(text, "off") || (read_decimal(text, value) && value > 0 && value <= 1);
}

// It is a day at most, since what it becomes in ticks must not overflow.
bool Interval::read(const char* text, Value& value) noexcept
{
    value = kNever;
    return is(text, "off") || (read_number(text, value) && value <= 86'400'000);
}

bool Poison::read(const char* text, Value& value) noexcept
{
    value = -1;
    if (is(text, "off"))
        return true;
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return false;
    int byte = 0;
    int digits = 0;
    for (text += 2; *text; ++text, ++digits) {
        static constexpr char kDigits[] = "0123456789abcdefABCDEF";
        const char* const found = std::strchr(kDigits, *text);
        if (!found || digits == 2)
            return false;
        const auto place = static_cast<int>(found - kDigits);
        byte = 16 * byte + (place < 16 ? place : place - 6);
    }
    if (digits == 0)
        return false;
    value = byte;
    return true;
}

} // namespace vramscope::log
