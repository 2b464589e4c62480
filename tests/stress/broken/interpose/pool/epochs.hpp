// tests/stress/broken/interpose/pool/epochs.hpp — a pool that never waits.
//
// It is found before the real header, for a preload that reuse_race must catch.
#pragma once
#pragma GCC system_header // include_next is no C++

#define Epochs SoundEpochs
#include_next "interpose/pool/epochs.hpp"
#undef Epochs

namespace vramscope::pool {

class Epochs : public SoundEpochs {
public:
    bool passed(std::uint64_t) const noexcept { return true; }
    std::uint64_t safe() const noexcept { return ~std::uint64_t{0}; }
};

} // namespace vramscope::pool
