// report/symbols/python_lines.cpp — the three line tables that CPython has had since 3.8.
#include "report/symbols/python_lines.hpp"

#include <climits>
#include <cstddef>

namespace vramscope::report {
namespace {

class Table {
public:
    explicit Table(std::string_view bytes) noexcept : bytes_(bytes) {}
    bool at_end() const noexcept { return at_ >= bytes_.size(); }
    unsigned byte() noexcept { return at_end() ? 0 : static_cast<unsigned char>(bytes_[at_++]); }
    int signed_byte() noexcept { return static_cast<signed char>(byte()); }
    // Six bits a byte, lowest first; bit 6 is set on all but the last.
    std::uint64_t number() noexcept
    {
        std::uint64_t value = 0;
        unsigned shift = 0;
        unsigned part = 0;
        do {
            part = byte();
            value |= shift < 64 ? std::uint64_t{part & 63} << shift : 0;
            shift += 6;
        } while ((part & 64) != 0 && !at_end());
        return value;
    }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

int line_or_none(std::int64_t line) noexcept
{
    return line > 0 && line <= INT_MAX ? static_cast<int>(line) : 0;
}

// Pairs of bytes: so many more bytes of code, and so many more lines.
int from_line_numbers(Table table, std::int64_t line, std::uint64_t offset) noexcept
{
    std::uint64_t address = 0;
    while (!table.at_end()) {
        address += table.byte();
        if (address > offset)
            break;
        line += table.signed_byte();
    }
    return line_or_none(line);
}

// Pairs of bytes: of so many bytes of code the line is so many more; -128: they have none.
int from_line_ranges(Table table, std::int64_t line, std::uint64_t offset) noexcept
{
    constexpr int kNoLine = -128;
    std::uint64_t end = 0;
    while (!table.at_end()) {
        end += table.byte();
        const int more = table.signed_byte();
        if (more != kNoLine)
            line += more;
        if (offset < end)
            return more == kNoLine ? 0 : line_or_none(line);
    }
    return 0;
}

// A byte with a code and a length in units of two bytes, and what the code asks for.
int from_locations(Table table, std::int64_t line, std::uint64_t offset) noexcept
{
    constexpr unsigned kShort = 10; // below: columns alone, in one byte
    constexpr unsigned kNoColumns = 13;
    constexpr unsigned kLong = 14;
    constexpr unsigned kNone = 15;
    std::uint64_t end = 0;
    while (!table.at_end()) {
        const unsigned head = table.byte();
        const unsigned code = head >> 3 & 15;
        end += ((head & 7) + 1) * 2u;
        if (code == kLong || code == kNoColumns) {
            const std::uint64_t more = table.number();
            const auto distance = static_cast<std::int64_t>(more >> 1 & INT_MAX);
            line += more & 1 ? -distance : distance;
            for (int skipped = 0; code == kLong && skipped < 3; ++skipped)
                table.number(); // the line where it ends, and two columns
        } else if (code < kShort) {
            table.byte();
        } else if (code < kNoColumns) {
            line += code - kShort;
            table.byte();
            table.byte();
        }
        if (offset < end)
            return code == kNone ? 0 : line_or_none(line);
    }
    return 0;
}

} // namespace

int python_line(format::LineTable table, std::string_view bytes, std::uint64_t first_line,
                std::uint64_t offset) noexcept
{
    const auto line = static_cast<std::int64_t>(first_line & INT_MAX);
    switch (table) {
    case format::LineTable::line_numbers:
        return from_line_numbers(Table(bytes), line, offset);
    case format::LineTable::line_ranges:
        return from_line_ranges(Table(bytes), line, offset);
    case format::LineTable::locations:
        return from_locations(Table(bytes), line, offset);
    case format::LineTable::none:
        return offset <= INT_MAX ? static_cast<int>(offset) : 0;
    }
    return 0;
}

} // namespace vramscope::report
