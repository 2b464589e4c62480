// report/reach/memory/used_words.hpp — which words of a block hold anything.
#pragma once

#include <cstdint>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

// Outside of it words are left over. Empty: it is not known.
struct UsedWords : AddressSpan {
    // The first of the hashes in it, and from each to the next: numbers, though that of an address
    // is an address. 0: it has none.
    Address hashes = 0;
    std::uint64_t hash_step = 0;

    bool is_left_over(Address word) const { return end != 0 && (word < begin || word >= end); }
    bool is_hash(Address word) const
    {
        return hash_step != 0 && word >= hashes && word < end && (word - hashes) % hash_step == 0;
    }
};

} // namespace vramscope::report
