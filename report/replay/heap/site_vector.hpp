// report/replay/heap/site_vector.hpp — what is kept of each site, by its number.
//
// Each lies in no more lines of the cache than it needs. References are valid until of() is called.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "report/replay/heap/lost_blocks.hpp"
#include "report/replay/lookup/large_pages.hpp"
#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

template <typename Value>
class SiteVector {
public:
    std::size_t size() const noexcept { return size_; }

    // Adds it and those before it, unless it is there.
    Value& of(SiteId site)
    {
        if (site >= size_) [[unlikely]]
            add_up_to(site);
        return slots_[site].value;
    }
    // It must be there.
    Value& operator[](SiteId site) noexcept { return slots_[site].value; }
    const Value& operator[](SiteId site) const noexcept { return slots_[site].value; }

    void prefetch(SiteId site) const noexcept
    {
        if (site < size_)
            report::prefetch(&slots_[site]);
    }

    std::vector<Value> kept() const
    {
        std::vector<Value> kept;
        for (const Slot& slot : slots_)
            kept.push_back(slot.value);
        return kept;
    }
    bool restore(std::vector<Value> kept)
    {
        slots_.clear();
        for (Value& value : kept)
            slots_.push_back({std::move(value)});
        size_ = slots_.size();
        return true;
    }

private:
    static constexpr std::size_t kLine = 64;
    struct alignas(std::min(kLine, std::bit_ceil(sizeof(Value)))) Slot {
        Value value;
    };

    [[gnu::noinline]] void add_up_to(SiteId site)
    {
        size_ = site + std::size_t{1};
        slots_.resize(size_);
    }

    LargeVector<Slot> slots_;
    std::size_t size_ = 0; // of slots_: to ask a vector for it costs an event more than to keep it
};

} // namespace vramscope::report
