// report/replay/lookup/large_pages.hpp — a vector whose elements lie in large pages of memory.
//
// Tables that are read at random cost a miss of the TLB beside the one of the cache, and under a
// hypervisor the former is the dearer of the two. Where the kernel has no large pages, these are
// pages of the usual size.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace vramscope::report {

template <typename Value>
struct LargePages {
    using value_type = Value;

    LargePages() = default;
    template <typename Other>
    LargePages(const LargePages<Other>&) noexcept
    {
    }

    Value* allocate(std::size_t count)
    {
        const std::size_t bytes = count * sizeof(Value); // count: at most max_size()
        if (bytes < kLeastBytes)
            return static_cast<Value*>(::operator new (bytes, std::align_val_t{alignof(Value)}));
        const std::size_t pages = (bytes + kPageBytes - 1) / kPageBytes;
        void* const memory = std::aligned_alloc(kPageBytes, pages * kPageBytes);
        if (!memory)
            throw std::bad_alloc();
        ::madvise(memory, pages * kPageBytes, MADV_HUGEPAGE); // a hint: it may fail
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* values, std::size_t count) noexcept
    {
        if (count * sizeof(Value) < kLeastBytes)
            ::operator delete (values, std::align_val_t{alignof(Value)});
        else
            std::free(values);
    }
    bool operator==(const LargePages&) const noexcept { return true; }

private:
    static constexpr std::size_t kPageBytes = std::size_t{2} << 20;
    static constexpr std::size_t kLeastBytes = kPageBytes / 2; // no more than half is in vain
};

template <typename Value>
using LargeVector = std::vector<Value, LargePages<Value>>;

} // namespace vramscope::report
