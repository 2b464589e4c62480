// tests/differential/player/rng.hpp — the only source of choice: the same seed, the same sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace differential {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t z = a + 0x9e3779b97f4a7c15 * (b + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

class Rng {
public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() { return mix(state_++, 0x5eed); }
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
    bool chance(unsigned percent) { return next() % 100 < percent; }
    template <class T>
    T one_of(std::initializer_list<T> choices)
    {
        return choices.begin()[below(choices.size())];
    }

private:
    std::uint64_t state_;
};

} // namespace differential
