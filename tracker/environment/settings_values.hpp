// tracker/environment/settings_values.hpp — how the text of a setting is read.
//
// There is one struct for each kind of setting. read() says whether `text` is valid; if not,
// `value` means nothing. It allocates nothing and knows no locale. Sizes are in bytes; for limits
// "off" is kNoBytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tracker/capture/unwinder.hpp"
#include "tracker/format/words.hpp"

namespace vramscope::log {

inline constexpr std::size_t kSettingBytes = 1024;
inline constexpr std::uint64_t kNoBytes = ~std::uint64_t{0};

enum class PoolMode : std::uint8_t { off, cache, split };
inline constexpr format::Word<PoolMode> kPoolModes[] = {
    {PoolMode::off, "off"}, {PoolMode::cache, "cache"}, {PoolMode::split, "split"}};

struct Text {
    using Value = char[kSettingBytes];
    static bool read(const char* text, Value& value) noexcept;
};
struct Depth {
    using Value = unsigned;
    static bool read(const char* text, Value& value) noexcept;
};
struct Unwinder {
    using Value = capture::Unwinder;
    static bool read(const char* text, Value& value) noexcept;
};
struct Switch {
    using Value = bool;
    static bool read(const char* text, Value& value) noexcept;
};
struct Mode {
    using Value = PoolMode;
    static bool read(const char* text, Value& value) noexcept;
};
struct Sync { // true: strict
    using Value = bool;
    static bool read(const char* text, Value& value) noexcept;
};
struct Size { // tracker/format/size_text.hpp
    using Value = std::uint64_t;
    static bool read(const char* text, Value& value) noexcept;
};
inline constexpr std::uint64_t kPeakBytes = kNoBytes - 1; // as much as the program had at its peak
struct SizeOrPeak {
    using Value = std::uint64_t;
    static bool read(const char* text, Value& value) noexcept;
};
struct Limit { // a size that a device could have
    using Value = std::uint64_t;
    static bool read(const char* text, Value& value) noexcept;
};
struct Megabytes { // PyTorch's max_split_size_mb
    using Value = std::uint64_t;
    static bool read(const char* text, Value& value) noexcept;
};
// Entry i is for sizes from 2^i MiB up to twice that; the first is for all below too, the last for
// all above. In a list, as PyTorch reads it, the first key's value also holds below it, and that of
// ">" from the last key on, this one included.
struct Divisions {
    using Value = std::array<std::uint8_t, 16>;
    static bool read(const char* text, Value& value) noexcept;
};
struct Threshold { // 0: off
    using Value = double;
    static bool read(const char* text, Value& value) noexcept;
};
struct Fraction { // 0: off
    using Value = double;
    static bool read(const char* text, Value& value) noexcept;
};
struct Interval { // milliseconds; kNever: off
    using Value = std::uint64_t;
    static constexpr Value kNever = ~std::uint64_t{0};
    static bool read(const char* text, Value& value) noexcept;
};
struct Poison { // -1: off
    using Value = int;
    static bool read(const char* text, Value& value) noexcept;
};

} // namespace vramscope::log
