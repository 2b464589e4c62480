// report/fnv1a.hpp — FNV-1a of 64 bits: it tells texts apart, and is no proof against an attack.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::report {

class Fnv1a {
public:
    void add(std::string_view bytes) noexcept
    {
        for (const char byte : bytes)
            hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    }
    std::uint64_t value() const noexcept { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

} // namespace vramscope::report
