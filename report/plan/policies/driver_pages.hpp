// report/plan/policies/driver_pages.hpp — what cudaMalloc makes of a size: a guess.
//
// Up to 1 MiB in steps of 512 bytes, many in a page of 2 MiB, at the lowest address that is free;
// more in whole pages. That is what addresses of real drivers show; the driver itself is closed.
#pragma once

#include <cstdint>
#include <vector>

#include "report/plan/policies/free_runs.hpp"
#include "report/plan/replay/counted_device.hpp"

namespace vramscope::report::plan {

class DriverPages {
public:
    explicit DriverPages(CountedDevice& device) : device_(device) {}

    static std::uint64_t rounded(std::uint64_t bytes) noexcept
    {
        const std::uint64_t step = is_small(bytes) ? kStep : kPage;
        return (bytes + step - 1) / step * step;
    }
    bool allocate(std::uint64_t bytes, std::uint64_t& address);
    void release(std::uint64_t address, std::uint64_t bytes);

    std::uint64_t largest_free() const noexcept; // in pages that hold a small block

private:
    static constexpr std::uint64_t kPage = 2u << 20, kStep = 512, kLargestSmall = 1u << 20;
    static constexpr std::uint64_t kSmallBase = std::uint64_t{1} << 60; // addresses of small blocks
    static_assert(FreeRuns::kSteps == kPage / kStep);

    struct Page {
        std::uint64_t address = 0; // the device's; 0: it is not there, and all its steps are free
        FreeRuns runs;
    };

    static bool is_small(std::uint64_t bytes) noexcept { return bytes <= kLargestSmall; }
    bool allocate_small(unsigned steps, std::uint64_t& address);
    std::size_t page_for(unsigned steps) const noexcept; // the lowest; pages_.size(): none
    std::size_t add_page();
    void note_largest(std::size_t number) noexcept;

    CountedDevice& device_;
    std::vector<Page> pages_;       // numbers are used again: the lowest first
    std::vector<unsigned> longest_; // a tree over the pages: each has the larger of its two
    std::size_t leaves_ = 0;
};

} // namespace vramscope::report::plan
