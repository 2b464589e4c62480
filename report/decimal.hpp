// report/decimal.hpp — numbers as people write them, read in one way everywhere.
//
// A decimal is digits, a point and more digits if there are any, and then an exponent if there is
// one: no sign, no "inf", and no locale, as the command sets none. strtod reads it, since
// std::from_chars of a double brings in libm, one library more at each start.
#pragma once

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "tracker/format/size_text.hpp"

namespace vramscope::report {

// All of `text` is this whole number; nothing if it is not, or if it does not fit.
template <typename Number>
std::optional<Number> whole_number(std::string_view text)
{
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [read_to, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() && read_to == end ? std::optional(number) : std::nullopt;
}

// Cuts the number off the beginning of `text`; nothing if there is none.
inline std::optional<double> take_decimal(std::string_view& text)
{
    std::string_view rest = text;
    if (format::take_digits(rest).empty())
        return std::nullopt;
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        format::take_digits(rest);
    }
    std::string_view exponent = rest.substr(rest.starts_with('e') ? 1 : 0);
    exponent.remove_prefix(exponent.starts_with('-') || exponent.starts_with('+') ? 1 : 0);
    if (rest.starts_with('e') && !format::take_digits(exponent).empty())
        rest = exponent;
    const std::string number(text.substr(0, text.size() - rest.size()));
    text = rest;
    return std::strtod(number.c_str(), nullptr);
}

} // namespace vramscope::report
