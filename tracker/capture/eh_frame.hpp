// tracker/capture/eh_frame.hpp — finds the unwind entry of a code address in its loaded object.
//
// The entry is found by the binary search table that linkers write (.eh_frame_hdr in the LSB).
// Tables are mapped and were made by a compiler; reading them stays bounded all the same. The
// loader is asked, before glibc 2.35 under its lock, so the caller holds none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vramscope::capture {

// Reads forward through a table; the tables are mapped and were made by a compiler,
// but stay bounded.
class FrameTable {
public:
    FrameTable(const std::uint8_t* begin, const std::uint8_t* end) noexcept : at_(begin), end_(end)
    {
    }
    template <class T>
    T read() noexcept
    {
        T value{};
        if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
            ok_ = false;
            at_ = end_;
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint64_t uleb() noexcept
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; ok_ && shift < 64; shift += 7) {
            const auto byte = read<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80)
                break;
        }
        return value;
    }
    std::int64_t sleb() noexcept
    {
        std::int64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0x80;
        while (ok_ && byte >= 0x80 && shift < 64) {
            byte = read<std::uint8_t>();
            value |= static_cast<std::int64_t>(byte & 0x7fu) << shift;
            shift += 7;
        }
        if (shift < 64 && (byte & 0x40))
            value |= -(std::int64_t{1} << shift);
        return value;
    }
    void skip(std::uint64_t bytes) noexcept
    {
        if (bytes > static_cast<std::uint64_t>(end_ - at_)) {
            ok_ = false;
            at_ = end_;
        } else {
            at_ += bytes;
        }
    }
    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return at_ == end_; }
    const std::uint8_t* position() const noexcept { return at_; }
    const std::uint8_t* end() const noexcept { return end_; }

    // A pointer in one of the encodings that .eh_frame uses; only what GNU tools emit on x86-64.
    bool pointer(std::uint8_t encoding, std::uintptr_t data_base, std::uintptr_t& out) noexcept
    {
        const auto here = reinterpret_cast<std::uintptr_t>(at_);
        std::uintptr_t value = 0;
        switch (encoding & 0x0f) {
        case 0x00:
        case 0x04:
        case 0x0c:
            value = read<std::uint64_t>();
            break;
        case 0x03:
            value = read<std::uint32_t>();
            break;
        case 0x0b:
            value = static_cast<std::uintptr_t>(std::int64_t{read<std::int32_t>()});
            break;
        default:
            return false;
        }
        switch (encoding & 0x70) {
        case 0x00:
            break;
        case 0x10:
            value += here;
            break;
        case 0x30:
            value += data_base;
            break;
        default:
            return false;
        }
        out = value;
        return ok_; // an indirect pointer (0x80) is only skipped over, for personality routines
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool ok_ = true;
};

// What entries of one kind share. DWARF calls it a common information entry.
struct Cie {
    std::uint64_t code_align = 0;
    std::int64_t data_align = 0;
    std::uint8_t pointer_encoding = 0;
    bool has_augmentation = false;
    bool of_signal_frame = false;
    FrameTable program{nullptr, nullptr};
};

// The entry of one function, and the program that gives its rules.
struct FrameEntry {
    Cie cie;
    std::uintptr_t function = 0;
    FrameTable program{nullptr, nullptr};
};

// False: there is no entry, or we do not know its kind (a signal frame, another encoding).
bool find_frame_entry(std::uintptr_t address, FrameEntry& entry) noexcept;

} // namespace vramscope::capture
