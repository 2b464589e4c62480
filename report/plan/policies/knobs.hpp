// report/plan/policies/knobs.hpp — KEY:VALUE,KEY:VALUE as PYTORCH_CUDA_ALLOC_CONF writes it.
//
// An equals sign is taken in place of the colon, so that a shell's user need not think. All throw
// Error with one line that names the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/pool/options.hpp"
#include "interpose/pool/rounding.hpp"

namespace vramscope::report::plan {

struct Knob {
    std::string key, value;

    std::uint64_t number() const;    // digits
    std::uint64_t mebibytes() const; // digits; the result is in bytes
    double part() const;             // between 0 and 1, both included
    std::uint64_t bytes_or(std::string_view word, std::uint64_t meaning) const; // a size
    bool flag() const;                                                          // True or False
    [[noreturn]] void refuse(const std::string& wanted) const; // "KEY: WANTED, not VALUE"
    [[noreturn]] void unknown() const;
};

std::vector<Knob> parse_knobs(std::string_view text);

// The keys that PyTorch's allocator and our own have in common. False: it is none of them. Blocks
// that are not split have at least `least_split_bytes`.
bool set_pool_knob(const Knob& knob, pool::Options& options,
                   std::uint64_t least_split_bytes = pool::kLargeSegment);

} // namespace vramscope::report::plan
