// report/exporters/json_line.hpp — one JSON object on one line, written while it is made.
//
// For lists as long as a log: no tree in memory, no copy. Only ASCII is written, and what is not
// UTF-8 becomes U+FFFD, as in the JSON report. Keys are ours, and are not escaped.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::report {

class JsonLine {
public:
    // Begins {"type":"..." at the end of `out`, which outlives this.
    JsonLine(std::string& out, std::string_view type);
    // Begins { there: an object of a format that is not ours.
    explicit JsonLine(std::string& out) : out_(out), first_(true) { out_ += '{'; }

    JsonLine& text(std::string_view key, std::string_view value);
    JsonLine& text_or_null(std::string_view key, std::string_view value); // empty: null
    template <std::integral Number>
    JsonLine& number(std::string_view key, Number value)
    {
        begin_value(key);
        append(value);
        return *this;
    }
    JsonLine& decimal(std::string_view key, std::uint64_t whole,
                      std::uint64_t thousandths);             // 1.005
    JsonLine& hex(std::string_view key, std::uint64_t value); // "0x1f"
    JsonLine& flag(std::string_view key, bool value);
    JsonLine& null(std::string_view key);

    // What is written until the matching close() is inside.
    JsonLine& open_array(std::string_view key);
    JsonLine& open_object(std::string_view key);
    JsonLine& open_object();                  // an element of an array
    JsonLine& string(std::string_view value); // an element of an array
    JsonLine& close();

    void end(); // ends the object and the line

private:
    void begin_value(std::string_view key);
    void append(std::uint64_t value);
    void append(std::int64_t value);
    template <std::unsigned_integral Number>
    void append(Number value)
    {
        append(static_cast<std::uint64_t>(value));
    }
    template <std::signed_integral Number>
    void append(Number value)
    {
        append(static_cast<std::int64_t>(value));
    }
    void append_quoted(std::string_view text);

    std::string& out_;
    std::string open_;   // the brackets to close, innermost last
    bool first_ = false; // the next one is the first in the open bracket
};

} // namespace vramscope::report
