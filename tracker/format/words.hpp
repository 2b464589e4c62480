// tracker/format/words.hpp — the values of an enumeration as words: a table with a row for each.
#pragma once

#include <cstddef>

namespace vramscope::format {

template <typename Enum>
struct Word {
    Enum value;
    const char* word;
};

// Returns the row of a value, or null, as a log may hold numbers that have no row.
template <typename Enum, std::size_t kRows>
constexpr const Word<Enum>* row_of(const Word<Enum> (&rows)[kRows], Enum value) noexcept
{
    for (const Word<Enum>& row : rows)
        if (row.value == value)
            return &row;
    return nullptr;
}

template <typename Enum, std::size_t kRows>
constexpr const char* word_of(const Word<Enum> (&rows)[kRows], Enum value,
                              const char* otherwise = "other") noexcept
{
    const Word<Enum>* const row = row_of(rows, value);
    return row ? row->word : otherwise;
}

} // namespace vramscope::format
