// report/symbols/symbolizer_ranges.hpp — nested address ranges, flattened for one search.
//
// Where ranges overlap, the one added last answers: add the outer before the inner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace vramscope::report {

class RangeIndex {
public:
    // [low, high); an empty or reversed range is ignored.
    void add(std::uint64_t low, std::uint64_t high, std::uint32_t value);
    // Call once, after the last add and before the first find.
    void build();
    std::optional<std::uint32_t> find(std::uint64_t address) const;

private:
    struct Range {
        std::uint64_t low;
        std::uint64_t high;
        std::uint32_t value;
        std::uint32_t order;
    };
    struct Segment {
        std::uint64_t low; // reaches to the next segment's low
        std::uint32_t value;
    };
    static constexpr std::uint32_t kNothing = UINT32_MAX;

    void append(std::uint64_t low, std::uint32_t value);

    std::vector<Range> ranges_; // empty again after build()
    std::vector<Segment> segments_;
};

} // namespace vramscope::report
