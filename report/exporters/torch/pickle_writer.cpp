// report/exporters/torch/pickle_writer.cpp — opcodes.
#include "report/exporters/torch/pickle_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "tracker/format/terminal_text.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostTextBytes = 255; // what an opcode with one byte of length holds

// Bytes that are no UTF-8, which Python would not load, as the JSON has them: U+FFFD. A name that a
// program gave in another encoding has some, and one that was cut inside a character.
std::string as_utf8(std::string_view text)
{
    std::string valid;
    while (!text.empty()) {
        std::uint32_t point = 0;
        const std::size_t length = format::utf8_character(text, point);
        valid += length > 0 ? text.substr(0, length) : "\xef\xbf\xbd";
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return valid;
}

} // namespace

void PickleWriter::before_value()
{
    if (open_.empty())
        return;
    Open& open = open_.back();
    if (open.values == kBatch * open.parts) {
        out_ += open.store;
        open.values = 0;
        if (out_.size() >= kPiece)
            flush();
    }
    if (open.values++ == 0)
        out_ += '(';
}

void PickleWriter::begin(char make, char store, std::uint32_t parts)
{
    value(make);
    open_.push_back({store, parts});
}

void PickleWriter::end()
{
    if (open_.back().values != 0)
        out_ += open_.back().store;
    open_.pop_back();
}

void PickleWriter::little_endian(std::uint64_t number, int bytes)
{
    for (int at = 0; at < bytes; ++at)
        out_ += static_cast<char>(number >> 8 * at);
}

void PickleWriter::number(std::uint64_t number)
{
    if (number <= UINT8_MAX) {
        value('\x4b'); // BININT1
        little_endian(number, 1);
    } else if (number <= UINT16_MAX) {
        value('\x4d'); // BININT2
        little_endian(number, 2);
    } else if (number <= INT32_MAX) {
        value('J');
        little_endian(number, 4);
    } else {
        value('\x8a'); // LONG1, which has a sign
        int bytes = 5;
        while (bytes < 8 && number >> (8 * bytes - 1) != 0)
            ++bytes;
        const bool top = number >> 63 != 0;
        out_ += static_cast<char>(bytes + top);
        little_endian(number, bytes);
        if (top)
            out_ += '\0';
    }
}

void PickleWriter::small_negative(std::int64_t number)
{
    value('J');
    little_endian(static_cast<std::uint64_t>(number), 4);
}

void PickleWriter::real(double number)
{
    value('G');
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (int shift = 56; shift >= 0; shift -= 8)
        out_ += static_cast<char>(bits >> shift & UINT8_MAX);
}

void PickleWriter::text(std::string_view bytes)
{
    if (const auto known = texts_.find(bytes); known != texts_.end())
        return recall(known->second);
    const std::string text = as_utf8(bytes);
    if (text.size() <= kMostTextBytes) {
        value('\x8c');
        little_endian(text.size(), 1);
    } else {
        value('X');
        little_endian(text.size(), 4);
    }
    out_ += text;
    texts_.emplace(bytes, remember());
}

void PickleWriter::pair(std::uint64_t first, std::uint64_t second)
{
    before_value();
    open_.push_back({0, 1, 1}); // its parts are not counted as items
    number(first);
    number(second);
    open_.pop_back();
    out_ += '\x86';
}

void PickleWriter::recall(std::uint64_t number)
{
    if (number <= UINT8_MAX) {
        value('h');
        little_endian(number, 1);
    } else {
        value('j');
        little_endian(number, 4);
    }
}

} // namespace vramscope::report
