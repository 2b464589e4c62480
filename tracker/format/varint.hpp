// tracker/format/varint.hpp — LEB128 integers and zigzag, the only number encoding inside records.
//
// Writers own a buffer that is known to be large enough; the reader's Cursor never leaves its
// bytes and turns into a failed state instead of throwing, so a damaged log costs records and
// never a crash.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace vramscope::format {

inline constexpr std::size_t kMaxVarintBytes = 10;

inline std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) noexcept
{
    while (value >= 0x80) {
        *out++ = static_cast<std::uint8_t>(value | 0x80);
        value >>= 7;
    }
    *out++ = static_cast<std::uint8_t>(value);
    return out;
}

constexpr std::uint64_t zigzag(std::int64_t value) noexcept
{
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

constexpr std::int64_t unzigzag(std::uint64_t value) noexcept
{
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Numbers in words of bytes are read without branches, as lengths cannot be predicted. The word
// begins with the number. `ends` has a bit for each byte of the word that ends a number; it is
// not 0.
static_assert(std::endian::native == std::endian::little);
template <typename Word>
constexpr Word ends_of_varints(Word word) noexcept
{
    return ~word & static_cast<Word>(0x8080808080808080u);
}
template <typename Word>
constexpr int length_of_varint(Word ends) noexcept
{
    return (std::countr_zero(ends) + 1) / 8;
}
constexpr std::uint32_t varint_in(std::uint32_t word, std::uint32_t ends) noexcept
{
    word &= (ends ^ (ends - 1)) & 0x7f7f7f7fu;
    word = (word & 0x007f007fu) | (word & 0x7f007f00u) >> 1;
    return (word & 0x00003fffu) | (word & 0x3fff0000u) >> 2;
}
constexpr std::uint64_t varint_in(std::uint64_t word, std::uint64_t ends) noexcept
{
    word &= (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7fu;
    word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
    word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
    return (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
}

// A bounded read position. After a failure every read gives zero, and ok() is false.
class Cursor {
public:
    Cursor(const std::uint8_t* begin, const std::uint8_t* end) noexcept : at_(begin), end_(end) {}

    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return at_ == end_; }
    const std::uint8_t* position() const noexcept { return at_; }
    std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }

    std::uint8_t u8() noexcept { return at_ == end_ ? fail() : *at_++; }

    std::uint64_t varint() noexcept
    {
        if (at_ != end_ && *at_ < 0x80)
            return *at_++;
        if (remaining() >= sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, at_, sizeof word);
            if (const std::uint64_t ends = ends_of_varints(word); ends != 0)
                return short_varint(word, ends);
        }
        return long_varint();
    }

    std::int64_t signed_varint() noexcept { return unzigzag(varint()); }

    std::uint32_t id() noexcept
    {
        const std::uint64_t value = varint();
        return value <= UINT32_MAX ? static_cast<std::uint32_t>(value) : fail();
    }

    // Returns `bytes` of text, which point into the log; empty after a failure.
    std::string_view text(std::uint64_t bytes) noexcept
    {
        if (bytes > remaining()) {
            fail();
            return {};
        }
        const std::string_view view(reinterpret_cast<const char*>(at_), bytes);
        at_ += bytes;
        return view;
    }

    std::string_view prefixed_text() noexcept { return text(varint()); }

private:
    // The next eight bytes hold the number, up to the first byte that ends one.
    std::uint64_t short_varint(std::uint64_t word, std::uint64_t ends) noexcept
    {
        at_ += length_of_varint(ends);
        return varint_in(word, ends);
    }

    std::uint64_t long_varint() noexcept
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 63; shift += 7) {
            if (at_ == end_)
                return fail();
            const std::uint8_t byte = *at_++;
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80)
                return value;
        }
        if (at_ == end_ || *at_ > 1)
            return fail(); // more than 64 bits
        return value | static_cast<std::uint64_t>(*at_++) << 63;
    }

    std::uint8_t fail() noexcept
    {
        ok_ = false;
        at_ = end_;
        return 0;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool ok_ = true;
};

// A read position that is followed by more bytes than are read: eight after the first one of each
// number. It reads numbers of up to eight bytes; of a longer one it knows only that it is not ok().
class ShortCursor {
public:
    explicit ShortCursor(const std::uint8_t* begin) noexcept : at_(begin) {}

    bool ok() const noexcept { return ok_; }
    const std::uint8_t* position() const noexcept { return at_; }

    std::uint64_t varint() noexcept
    {
        std::uint64_t word;
        std::memcpy(&word, at_, sizeof word);
        const auto half = static_cast<std::uint32_t>(word); // nearly always enough
        if (const std::uint32_t ends = ends_of_varints(half); ends != 0) [[likely]] {
            at_ += length_of_varint(ends);
            return varint_in(half, ends);
        }
        const std::uint64_t ends = ends_of_varints(word);
        ok_ = ok_ && ends != 0;
        at_ += length_of_varint(ends);
        return varint_in(word, ends);
    }

    std::int64_t signed_varint() noexcept { return unzigzag(varint()); }

    std::uint32_t id() noexcept
    {
        const std::uint64_t value = varint();
        ok_ = ok_ && value <= UINT32_MAX;
        return static_cast<std::uint32_t>(value);
    }

private:
    const std::uint8_t* at_;
    bool ok_ = true;
};

} // namespace vramscope::format
