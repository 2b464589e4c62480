// report/reach/memory/pieces.hpp — memory piece by piece, as far as it has pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

// Calls visit(address, words, their number). Pages without memory hold nothing, and are not
// touched.
template <typename Visit>
void for_each_piece(const ProcessMemory& memory, const AddressSpan& span, Visit visit)
{
    constexpr std::size_t kPieceBytes = 256 << 10;
    std::vector<std::uint64_t> words(kPieceBytes / sizeof(std::uint64_t));
    std::vector<char> there;
    for (Address at = span.begin; at < span.end;) {
        const Address end = std::min(span.end, (at / kPieceBytes + 1) * kPieceBytes);
        const Address first_page = at / kPageBytes * kPageBytes;
        memory.find_pages(first_page, (end - first_page + kPageBytes - 1) / kPageBytes, there);
        for (std::size_t page = 0; page < there.size(); ++page) {
            if (!there[page])
                continue;
            std::size_t behind = page;
            while (behind < there.size() && there[behind])
                ++behind;
            const Address from = std::max(at, first_page + page * kPageBytes);
            const Address to = std::min(end, first_page + behind * kPageBytes);
            const std::size_t count = (to - from) / sizeof words[0];
            if (memory.read(from, words.data(), count * sizeof words[0]))
                visit(from, words.data(), count);
            page = behind;
        }
        at = end;
    }
}

} // namespace vramscope::report
