// report/exporters/json_line.cpp — commas, brackets and escapes.
#include "report/exporters/json_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "tracker/format/terminal_text.hpp"

namespace vramscope::report {
namespace {

template <typename Number>
void append_digits(std::string& out, Number value, int base = 10)
{
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    out.append(digits.data(), end);
}

bool needs_no_escape(char c) noexcept
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// A unit of UTF-16.
void append_unit(std::string& out, std::uint32_t unit)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += kDigits[unit >> shift & 0xf];
}

void append_escaped(std::string& out, std::uint32_t point)
{
    constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    const std::size_t at = point < 0x80 ? kShort.find(static_cast<char>(point)) : kShort.npos;
    if (at != kShort.npos) {
        out += '\\';
        out += kLetters[at];
    } else if (point < 0x10000) {
        append_unit(out, point);
    } else {
        append_unit(out, 0xd7c0 + (point >> 10));
        append_unit(out, 0xdc00 + (point & 0x3ff));
    }
}

} // namespace

JsonLine::JsonLine(std::string& out, std::string_view type) : out_(out)
{
    out_ += R"({"type":)";
    append_quoted(type);
}

void JsonLine::begin_value(std::string_view key)
{
    if (!first_)
        out_ += ',';
    first_ = false;
    if (key.empty())
        return;
    out_ += '"';
    out_ += key;
    out_ += "\":";
}

JsonLine& JsonLine::text(std::string_view key, std::string_view value)
{
    begin_value(key);
    append_quoted(value);
    return *this;
}

JsonLine& JsonLine::text_or_null(std::string_view key, std::string_view value)
{
    return value.empty() ? null(key) : text(key, value);
}

JsonLine& JsonLine::decimal(std::string_view key, std::uint64_t whole, std::uint64_t thousandths)
{
    begin_value(key);
    append_digits(out_, whole);
    out_ += '.';
    for (const std::uint64_t place : {100u, 10u, 1u})
        out_ += static_cast<char>('0' + thousandths / place % 10);
    return *this;
}

JsonLine& JsonLine::hex(std::string_view key, std::uint64_t value)
{
    begin_value(key);
    out_ += "\"0x";
    append_digits(out_, value, 16);
    out_ += '"';
    return *this;
}

JsonLine& JsonLine::flag(std::string_view key, bool value)
{
    begin_value(key);
    out_ += value ? "true" : "false";
    return *this;
}

JsonLine& JsonLine::null(std::string_view key)
{
    begin_value(key);
    out_ += "null";
    return *this;
}

JsonLine& JsonLine::open_array(std::string_view key)
{
    begin_value(key);
    out_ += '[';
    open_ += ']';
    first_ = true;
    return *this;
}

JsonLine& JsonLine::open_object(std::string_view key)
{
    begin_value(key);
    out_ += '{';
    open_ += '}';
    first_ = true;
    return *this;
}

JsonLine& JsonLine::open_object()
{
    return open_object({});
}

JsonLine& JsonLine::string(std::string_view value)
{
    return text({}, value);
}

JsonLine& JsonLine::close()
{
    out_ += open_.back();
    open_.pop_back();
    first_ = false;
    return *this;
}

void JsonLine::end()
{
    out_ += "}\n";
}

void JsonLine::append(std::uint64_t value)
{
    append_digits(out_, value);
}

void JsonLine::append(std::int64_t value)
{
    append_digits(out_, value);
}

void JsonLine::append_quoted(std::string_view text)
{
    out_ += '"';
    while (!text.empty()) {
        const auto special = std::find_if_not(text.begin(), text.end(), needs_no_escape);
        const auto plain = static_cast<std::size_t>(special - text.begin());
        out_ += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty())
            break;
        std::uint32_t point = 0;
        const std::size_t length = format::utf8_character(text, point);
        append_escaped(out_, length == 0 ? 0xfffd : point);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    out_ += '"';
}

} // namespace vramscope::report
