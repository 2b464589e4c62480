// tracker/capture/stack_table.hpp — each distinct stack once: return addresses in, a small id out.
//
// find() is lock-free and verifies every frame; insert() takes a lock and happens once per distinct
// stack. An entry becomes visible to other threads only after its owner published the stack in the
// log, so no event can name a stack that a killed process did not write. A stack is (epoch,
// frames): after a library was unloaded the same addresses mean other code.
//
// The table begins with two pages and grows fourfold. A thread that still searches the one before
// may miss a stack; it then interns that stack as one that is new to it, and publish() knows it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/lock.hpp"

namespace vramscope::capture {

std::uint64_t hash_frames(const std::uintptr_t* frames, std::size_t count,
                          std::uint64_t epoch) noexcept;

class StackTable {
public:
    static constexpr std::uint32_t kMaxStacks = 1u << 19; // no id is larger

    struct Stack { // stays for as long as the process or its child
        std::uint64_t hash;
        std::uint32_t id;
        std::uint32_t count;
        // Its user's, and the one thing of it that changes.
        mutable std::atomic<std::uint64_t> proven_at;
        // followed by `count` return addresses, and by what was to follow them
        std::uintptr_t* frames() noexcept { return reinterpret_cast<std::uintptr_t*>(this + 1); }
        const std::uintptr_t* frames() const noexcept
        {
            return reinterpret_cast<const std::uintptr_t*>(this + 1);
        }
    };

    // False: there is no memory.
    bool open() noexcept;
    void reset_after_fork() noexcept;

    // Returns the id of a stack; 0: it is not known yet.
    std::uint32_t find(std::uint64_t hash, const std::uintptr_t* frames,
                       std::size_t count) const noexcept
    {
        const Stack* const stack = find_stack(hash, frames, count);
        return stack ? stack->id : 0;
    }
    const Stack* find_stack(std::uint64_t hash, const std::uintptr_t* frames,
                            std::size_t count) const noexcept; // null: it is not known yet

    // Returns a fresh id for a stack that find() did not know; 0: the table is full. Two threads
    // may get two ids for one stack; both are written to the log, and the later publish() loses.
    std::uint32_t new_id() noexcept;

    // Makes the stack visible under `id`, or returns the id that a faster thread gave it. What
    // follows the frames does not tell it from others.
    std::uint32_t publish(std::uint64_t hash, const std::uintptr_t* frames, std::size_t count,
                          std::uint32_t id, std::span<const std::uintptr_t> follows = {}) noexcept;

private:
    using Slot = std::atomic<const Stack*>;
    struct Slots {
        Slots* before;     // those that it took the place of: another thread may still search them
        std::size_t count; // a power of two
        Slot* slots;

        Slot& free_slot(std::uint64_t hash) noexcept;
    };
    static constexpr std::size_t kFirstSlots = 1024;

    bool grow(std::size_t count) noexcept;

    std::atomic<Slots*> slots_{nullptr};
    std::atomic<std::uint32_t> ids_{0};
    std::uint32_t used_ = 0;
    Lock lock_;
    Arena arena_;
};

} // namespace vramscope::capture
