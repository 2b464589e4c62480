// tracker/capture/arena.hpp — memory of the recorder, straight from mmap: the program's malloc is
// never called.
//
// A bump allocator that never gives back; for tables that live as long as the process. Not
// thread-safe: its owner holds a lock. Returns null when the kernel has no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

namespace vramscope::capture {

// Zeroed pages that cost memory only where touched.
inline void* map_pages(std::size_t bytes) noexcept
{
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

class Arena {
public:
    void* allocate(std::size_t bytes) noexcept
    {
        bytes = (bytes + 7) & ~std::size_t{7};
        if (bytes > left_) {
            if (bytes > kBlockBytes)
                return nullptr;
            void* block = map_pages(kBlockBytes);
            if (!block)
                return nullptr;
            at_ = static_cast<std::uint8_t*>(block);
            left_ = kBlockBytes;
        }
        void* result = at_;
        at_ += bytes;
        left_ -= bytes;
        return result;
    }

private:
    static constexpr std::size_t kBlockBytes = 1u << 20;
    std::uint8_t* at_ = nullptr;
    std::size_t left_ = 0;
};

} // namespace vramscope::capture
