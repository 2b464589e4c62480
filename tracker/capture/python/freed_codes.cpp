// tracker/capture/python/freed_codes.cpp — one pointer of a type, exchanged once.
#include "tracker/capture/python/freed_codes.hpp"

#include <atomic>

namespace vramscope::capture::python {
namespace {

using Free = void (*)(void*);

constinit std::atomic<Free> interpreters_own{nullptr};
constinit std::atomic<Free*> exchanged{nullptr}; // where the interpreter finds it
constinit std::atomic<std::uint64_t> freed{0};

// The interpreter's lock is held. What runs from the same address later has waited for that lock,
// or, in another interpreter that has a lock of its own, for what hands memory from thread to
// thread; so that its thread sees the count.
void count_and_free(void* code) noexcept
{
    freed.fetch_add(1, std::memory_order_relaxed);
    interpreters_own.load(std::memory_order_relaxed)(code);
}

} // namespace

void count_freed_codes(const Interpreter& interpreter) noexcept
{
    if (!interpreter.code_free)
        return;
    auto& place = *reinterpret_cast<Free*>(interpreter.code_free);
    Free own = nullptr;
    if (!interpreters_own.compare_exchange_strong(own, __atomic_load_n(&place, __ATOMIC_RELAXED)))
        return;
    __atomic_store_n(&place, &count_and_free, __ATOMIC_RELEASE);
    freed.fetch_add(1, std::memory_order_release);
    exchanged.store(&place, std::memory_order_release);
}

// Something else may exchange the function, and nobody knows whether it calls ours, or since when
// it has not: once that is seen, nothing is counted any more.
std::uint64_t freed_codes() noexcept
{
    const Free* const place = exchanged.load(std::memory_order_acquire);
    if (!place)
        return 0;
    if (__atomic_load_n(place, __ATOMIC_RELAXED) != &count_and_free) [[unlikely]] {
        exchanged.store(nullptr, std::memory_order_relaxed);
        return 0;
    }
    return freed.load(std::memory_order_relaxed);
}

} // namespace vramscope::capture::python
