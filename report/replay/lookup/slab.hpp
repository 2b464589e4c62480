// report/replay/lookup/slab.hpp — values by number, close together.
//
// The number that was given back last is given out first: its line is in the cache still. Memory
// goes with the most values that were there at once. Pointers to values are valid until the next
// add(). What is removed stays as it was until its number is given out again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "report/replay/lookup/large_pages.hpp"
#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

template <typename Value>
class Slab {
public:
    template <typename From> // Value&& or const Value&
    std::size_t add(From&& value)
    {
        if (unused_.empty()) {
            values_.push_back({std::forward<From>(value)});
            return values_.size() - 1;
        }
        const std::size_t number = unused_.back();
        unused_.pop_back();
        values_[number].value = std::forward<From>(value);
        return number;
    }
    void remove(std::size_t number) { unused_.push_back(number); }

    Value& operator[](std::size_t number) noexcept { return values_[number].value; }
    const Value& operator[](std::size_t number) const noexcept { return values_[number].value; }
    void prefetch(std::size_t number) const noexcept { report::prefetch(&values_[number]); }

private:
    static constexpr std::size_t kLine = 64;
    // In no more lines of the cache than it needs.
    struct alignas(std::min(kLine, std::bit_ceil(sizeof(Value)))) Slot {
        Value value;
    };

    LargeVector<Slot> values_;
    std::vector<std::size_t> unused_;
};

} // namespace vramscope::report
