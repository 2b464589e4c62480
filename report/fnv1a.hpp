// report/fnv1a.hpp — FNV-1a of 64 bits: it tells texts apart, and is no proof against an attack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace vramscope::report {

class Fnv1a {
public:
    void add(std::string_view bytes) noexcept
    {
        for (const char byte : bytes)
            add_number(static_cast<unsigned char>(byte));
    }
    // Of many bytes, eight at a time: another hash, and one that still sees each byte that differs.
    void add_words(std::string_view bytes) noexcept
    {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), sizeof(std::uint64_t)))) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
            add_number(word);
        }
    }
    std::uint64_t value() const noexcept { return hash_; }

private:
    void add_number(std::uint64_t number) noexcept { hash_ = (hash_ ^ number) * 0x100000001b3u; }

    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

} // namespace vramscope::report
