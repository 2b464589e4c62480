// tracker/capture/stack_table.cpp — open addressing over pointers to immutable stacks.
#include "tracker/capture/stack_table.hpp"

#include <cstring>

namespace vramscope::capture {

std::uint64_t hash_frames(const std::uintptr_t* frames, std::size_t count,
                          std::uint64_t epoch) noexcept
{
    std::uint64_t hash = 0x9e3779b97f4a7c15u ^ (epoch * 0xd6e8feb86659fd93u) ^ count;
    for (std::size_t i = 0; i < count; ++i) {
        hash = (hash ^ frames[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

bool StackTable::open() noexcept
{
    if (!slots_)
        slots_ = static_cast<std::atomic<const Stack*>*>(map_pages(kSlots * sizeof *slots_));
    return slots_ != nullptr;
}

void StackTable::reset_after_fork() noexcept
{
    if (slots_)
        ::munmap(static_cast<void*>(slots_), kSlots * sizeof *slots_);
    slots_ = nullptr;
    ids_.store(0, std::memory_order_relaxed);
    used_ = 0;
    arena_ = {};
}

std::uint32_t StackTable::find(std::uint64_t hash, const std::uintptr_t* frames,
                               std::size_t count) const noexcept
{
    for (std::size_t slot = hash & (kSlots - 1);; slot = (slot + 1) & (kSlots - 1)) {
        const Stack* stack = slots_[slot].load(std::memory_order_acquire);
        if (!stack)
            return 0;
        if (stack->hash == hash && stack->count == count &&
            std::memcmp(stack->frames(), frames, count * sizeof *frames) == 0)
            return stack->id;
    }
}

std::uint32_t StackTable::new_id() noexcept
{
    const std::uint32_t id = ids_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (id <= kMaxStacks)
        return id;
    ids_.store(kMaxStacks, std::memory_order_relaxed);
    return 0;
}

std::uint32_t StackTable::publish(std::uint64_t hash, const std::uintptr_t* frames,
                                  std::size_t count, std::uint32_t id) noexcept
{
    const std::lock_guard guard(lock_);
    if (const std::uint32_t known = find(hash, frames, count))
        return known;
    if (used_ == kMaxStacks)
        return id;
    auto* stack = static_cast<Stack*>(arena_.allocate(sizeof(Stack) + count * sizeof *frames));
    if (!stack)
        return id;
    stack->hash = hash;
    stack->id = id;
    stack->count = static_cast<std::uint32_t>(count);
    std::memcpy(stack->frames(), frames, count * sizeof *frames);
    std::size_t slot = hash & (kSlots - 1);
    while (slots_[slot].load(std::memory_order_relaxed))
        slot = (slot + 1) & (kSlots - 1);
    slots_[slot].store(stack, std::memory_order_release);
    ++used_;
    return id;
}

} // namespace vramscope::capture
