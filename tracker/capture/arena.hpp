// tracker/capture/arena.hpp — memory of the recorder, straight from mmap.
//
// The program's malloc is never called. It is a bump allocator that never gives memory back, for
// tables that live as long as the process. Not thread-safe: its owner holds a lock. Returns null
// when the kernel has no more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

namespace vramscope::capture {

// Zeroed pages that cost memory only where touched. By two pieces of advice that nobody else gives
// together, a search for pointers from outside knows them for ours (report/reach/live_memory.cpp);
// the kernel does not join them with the program's then.
inline void* map_pages(std::size_t bytes) noexcept
{
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return nullptr;
    ::madvise(pages, bytes, MADV_DONTDUMP);
    ::madvise(pages, bytes, MADV_RANDOM);
    return pages;
}

// Room for as long as a cold function runs: a thread's stack may be 16 KiB in all, and most of that
// is not ours.
template <class T>
class Scratch {
public:
    Scratch() noexcept : Scratch(nullptr) {} // zeroed memory
    ~Scratch()
    {
        if (room_)
            ::munmap(room_, sizeof(T));
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    explicit operator bool() const noexcept { return room_ != nullptr; }
    T& operator*() const noexcept { return *room_; }
    T* operator->() const noexcept { return room_; }

protected:
    explicit Scratch(T* room) noexcept : room_(room ? room : static_cast<T*>(map_pages(sizeof(T))))
    {
    }
    T* room_;
};

// The same for what each new call stack needs: one that was given back is kept for the next, since
// to map pages and to give them back takes 10 us and more in a program of many threads. What is in
// it at first is nobody's.
template <class T>
class KeptScratch : public Scratch<T> {
public:
    KeptScratch() noexcept : Scratch<T>(kept_.exchange(nullptr, std::memory_order_acquire)) {}
    ~KeptScratch()
    {
        T* none = nullptr;
        if (kept_.compare_exchange_strong(none, this->room_, std::memory_order_release))
            this->room_ = nullptr;
    }

private:
    inline static constinit std::atomic<T*> kept_{nullptr};
};

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
