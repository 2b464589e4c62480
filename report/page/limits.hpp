// report/page/limits.hpp — how much of a report a page takes.
#pragma once

#include <algorithm>
#include <cstddef>

namespace vramscope::report {

struct PageLimits {
    std::size_t rows = 2000;       // of each list
    std::size_t processes = 512;   // that are described
    std::size_t points = 32 << 10; // of all timelines together
    std::size_t pieces = 32 << 10; // blocks of all maps of segments together
    std::size_t parts = 32 << 10;  // of what memory was made of, at all moments of all timelines
    std::size_t lives = 32 << 10;  // sums of blocks by when they came and left, of all of these
    std::size_t characters = 1000; // of one name or sentence

    PageLimits halved() const noexcept
    {
        const auto half = [](std::size_t number) { return std::max<std::size_t>(number / 2, 1); };
        return {half(rows),
                half(processes),
                half(points),
                half(pieces),
                half(parts),
                half(lives),
                std::max<std::size_t>(characters / 2, 64)};
    }
};

} // namespace vramscope::report
