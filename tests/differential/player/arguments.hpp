// tests/differential/player/arguments.hpp — out-parameters that notice every byte that was touched.
#pragma once

#include <cstring>
#include <type_traits>

namespace differential {

constexpr unsigned char kPattern = 0xA5;

// What an out-parameter means, so that it can be named. What a pool chooses is a number that
// agrees without one: free bytes, as the pool counts its own without the driver's rounding; the
// identity of a block.
enum class Meaning { number, address, handle, file, pools_choice };

template <class T>
struct Out {
    static_assert(std::is_trivially_copyable_v<T>);
    unsigned char before[16];
    T value;
    unsigned char after[16];
    Meaning meaning = std::is_pointer_v<T> ? Meaning::handle : Meaning::number;
    bool null = false; // the call gets a null pointer

    Out() { fill(); }
    explicit Out(Meaning meaning_) : meaning(meaning_) { fill(); }

    void fill()
    {
        std::memset(before, kPattern, sizeof before);
        std::memset(static_cast<void*>(&value), kPattern, sizeof value);
        std::memset(after, kPattern, sizeof after);
    }
    bool damaged() const { return !is_pattern(before) || !is_pattern(after); }
    bool untouched() const { return is_pattern(value); }

private:
    template <class Bytes>
    static bool is_pattern(const Bytes& bytes)
    {
        const auto* at = reinterpret_cast<const unsigned char*>(&bytes);
        for (std::size_t i = 0; i < sizeof bytes; ++i)
            if (at[i] != kPattern)
                return false;
        return true;
    }
};

// An argument that the call only reads.
template <class T>
struct In {
    T value{};
    bool null = false;
};

// A value that differs between processes: a file descriptor.
template <class T>
struct Hidden {
    T value;
};

} // namespace differential
