// tests/differential/player/transcript.hpp — what one sequence did and saw, as text.
//
// Both runs must write the same text. Addresses and handles differ between processes, so they are
// written as names: which object, and how far inside it.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace differential {

class Transcript {
public:
    void clear() { text_.clear(); }
    Transcript& operator<<(std::string_view text)
    {
        text_ += text;
        return *this;
    }
    template <std::integral Number>
    Transcript& operator<<(Number number)
    {
        char digits[24];
        text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
        return *this;
    }
    const std::string& text() const { return text_; }
    void cut(std::size_t length) { text_.resize(length); }
    std::uint64_t hash() const
    {
        std::uint64_t value = 0xcbf29ce484222325;
        for (const char c : text_)
            value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return value;
    }

private:
    std::string text_;
};

} // namespace differential
