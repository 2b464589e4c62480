// tracker/capture/stack_table.cpp — open addressing over pointers to immutable stacks.
#include "tracker/capture/stack_table.hpp"

#include <algorithm>
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

StackTable::Slot& StackTable::Slots::free_slot(std::uint64_t hash) noexcept
{
    std::size_t at = hash & (count - 1);
    while (slots[at].load(std::memory_order_relaxed))
        at = (at + 1) & (count - 1);
    return slots[at];
}

bool StackTable::grow(std::size_t count) noexcept
{
    auto* const grown = static_cast<Slots*>(arena_.allocate(sizeof(Slots)));
    auto* const slots = grown ? static_cast<Slot*>(map_pages(count * sizeof(Slot))) : nullptr;
    if (!slots)
        return false;
    Slots* const before = slots_.load(std::memory_order_relaxed);
    *grown = {before, count, slots};
    for (std::size_t at = 0; before && at < before->count; ++at)
        if (const Stack* stack = before->slots[at].load(std::memory_order_relaxed))
            grown->free_slot(stack->hash).store(stack, std::memory_order_relaxed);
    slots_.store(grown, std::memory_order_release);
    return true;
}

bool StackTable::open() noexcept
{
    return slots_.load() || grow(kFirstSlots);
}

void StackTable::reset_after_fork() noexcept
{
    for (Slots* slots = slots_.load(); slots; slots = slots->before)
        ::munmap(static_cast<void*>(slots->slots), slots->count * sizeof(Slot));
    slots_.store(nullptr);
    ids_.store(0, std::memory_order_relaxed);
    used_ = 0;
    arena_ = {};
}

const StackTable::Stack* StackTable::find_stack(std::uint64_t hash, const std::uintptr_t* frames,
                                                std::size_t count) const noexcept
{
    const Slots& table = *slots_.load(std::memory_order_acquire);
    for (std::size_t at = hash & (table.count - 1);; at = (at + 1) & (table.count - 1)) {
        const Stack* stack = table.slots[at].load(std::memory_order_acquire);
        if (!stack)
            return nullptr;
        if (stack->hash == hash && stack->count == count &&
            std::memcmp(stack->frames(), frames, count * sizeof *frames) == 0)
            return stack;
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
                                  std::size_t count, std::uint32_t id,
                                  std::span<const std::uintptr_t> follows) noexcept
{
    const std::lock_guard guard(lock_);
    if (const std::uint32_t known = find(hash, frames, count))
        return known;
    const std::size_t room = slots_.load(std::memory_order_relaxed)->count;
    if (used_ == room / 2 && (used_ == kMaxStacks || !grow(4 * room)))
        return id;
    auto* stack = static_cast<Stack*>(
        arena_.allocate(sizeof(Stack) + (count + follows.size()) * sizeof *frames));
    if (!stack)
        return id;
    stack->hash = hash;
    stack->id = id;
    stack->count = static_cast<std::uint32_t>(count);
    stack->proven_at.store(0, std::memory_order_relaxed);
    std::memcpy(stack->frames(), frames, count * sizeof *frames);
    std::copy(follows.begin(), follows.end(), stack->frames() + count);
    slots_.load(std::memory_order_relaxed)->free_slot(hash).store(stack, std::memory_order_release);
    ++used_;
    return id;
}

} // namespace vramscope::capture
