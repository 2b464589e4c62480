// report/plan/replay/counted_device.hpp — device memory that is counted and not there.
//
// Addresses grow and are never used again, unless a test gives the recorded ones. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

namespace vramscope::report::plan {

class CountedDevice {
public:
    static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

    // `capacity` is what the allocator can have of it, in bytes; `total` what the device has, which
    // is more where others use some.
    explicit CountedDevice(std::uint64_t capacity = kNoLimit, std::uint64_t total = 0)
        : capacity_(capacity), total_(std::max(capacity, total))
    {
    }

    // False: it would be more than the capacity; nothing was taken.
    bool allocate(std::uint64_t bytes, std::uint64_t& address)
    {
        ++calls_;
        if (!fits(bytes))
            return false;
        address = next_address ? next_address(bytes) : reserve(bytes);
        took(address, bytes);
        return true;
    }
    // The same at an address of the caller's, as physical memory is mapped; in so many calls.
    bool map(std::uint64_t address, std::uint64_t bytes, std::uint64_t calls)
    {
        calls_ += calls;
        if (!fits(bytes))
            return false;
        took(address, bytes);
        return true;
    }
    void release(std::uint64_t address, std::uint64_t bytes, std::uint64_t calls = 1)
    {
        calls_ += calls;
        reserved_ -= bytes;
        if (on_call)
            on_call(false, address, bytes);
    }
    // A call that is answered out of what was taken before, or gives back a part of it.
    void call_inside() noexcept { ++calls_; }
    // Addresses without memory, no call: they begin at a multiple of 2 MiB.
    std::uint64_t reserve(std::uint64_t bytes) noexcept
    {
        const std::uint64_t address = end_;
        end_ += (bytes + kPage - 1) / kPage * kPage;
        return address;
    }
    // What an allocator held before the first request. False: there is not so much.
    bool adopt(std::uint64_t address, std::uint64_t bytes) noexcept
    {
        if (!fits(bytes))
            return false;
        end_ = std::max(end_, (address + bytes + kPage - 1) / kPage * kPage);
        reserved_ += bytes;
        peak_reserved_ = std::max(peak_reserved_, reserved_);
        return true;
    }

    // Memory that others than the allocator take and give back. False: there is not so much.
    bool occupy(std::uint64_t bytes) noexcept
    {
        if (!fits(bytes))
            return false;
        beside_ += bytes;
        return true;
    }
    void vacate(std::uint64_t bytes) noexcept { beside_ -= bytes; }

    std::uint64_t total() const noexcept { return total_; }
    std::uint64_t room() const noexcept // bytes that could be taken now
    {
        return capacity_ == kNoLimit ? kNoLimit : capacity_ - reserved_ - beside_;
    }
    std::uint64_t reserved() const noexcept { return reserved_; }
    std::uint64_t peak_reserved() const noexcept { return peak_reserved_; }
    std::uint64_t beside() const noexcept { return beside_; } // bytes that others have now
    std::uint64_t calls() const noexcept { return calls_; }   // that take and give back

    // Called at each allocation and release with its address and bytes; may be empty.
    std::function<void(bool taken, std::uint64_t address, std::uint64_t bytes)> on_call;
    // The next addresses to give out; when it is empty, they are counted.
    std::function<std::uint64_t(std::uint64_t bytes)> next_address;

private:
    static constexpr std::uint64_t kPage = 2u << 20;

    bool fits(std::uint64_t bytes) const noexcept { return bytes <= room(); }
    void took(std::uint64_t address, std::uint64_t bytes)
    {
        reserved_ += bytes;
        peak_reserved_ = std::max(peak_reserved_, reserved_);
        if (on_call)
            on_call(true, address, bytes);
    }

    std::uint64_t capacity_, total_;
    std::uint64_t reserved_ = 0, peak_reserved_ = 0, beside_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t end_ = std::uint64_t{1} << 32;
};

} // namespace vramscope::report::plan
