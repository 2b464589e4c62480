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

// The words of an enumeration of the log, found by its type: kAll, its table, and kOtherwise, which
// stands for a number that has no row.
template <typename Enum>
struct Words;
template <typename Enum>
concept Worded = requires
{
    Words<Enum>::kAll;
};

template <Worded Enum>
constexpr const char* name(Enum value) noexcept
{
    return word_of(Words<Enum>::kAll, value, Words<Enum>::kOtherwise);
}

template <Worded Enum>
constexpr bool is_known(Enum value) noexcept
{
    return row_of(Words<Enum>::kAll, value) != nullptr;
}

} // namespace vramscope::format
