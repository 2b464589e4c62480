// tracker/log/origins.hpp — where in Python the work was begun that another thread does later.
//
// PyTorch makes an autograd node in the forward pass, and runs it in the backward pass on a thread
// of its own. The stack of the functions that made a node is kept by the two numbers that the node
// is known by: that of the thread, and one that the thread counts up. An event of the backward pass
// then has a stack of its own frames and of that origin, with an id of its own.
//
// Any thread may call. Nothing is locked, but where a new stack is written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tracker/capture/stack_table.hpp"
#include "tracker/log/thread.hpp"

namespace vramscope::log {

// The last 65,536 nodes of a thread, or fewer, as all threads share one table. Each is one word, so
// that a reader sees a whole one; its place and what is in it tell its numbers exactly.
class Origins {
public:
    bool open() noexcept;          // idempotent, by one thread at a time; false: there is no memory
    void forget_stacks() noexcept; // their ids are the parent's

    // `stack` may be 0. Numbers that are too large for the table are not kept.
    void remember(std::uint64_t thread, std::uint64_t number, std::uint32_t stack) noexcept;
    // Nothing: such a node was not made, or too long ago.
    std::optional<std::uint32_t> find(std::uint64_t thread, std::uint64_t number) const noexcept;

private:
    static constexpr unsigned kPlaceBits = 16;
    static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
    static constexpr unsigned kStackBits = 20;
    static_assert(capture::StackTable::kMaxStacks < std::uint32_t{1} << kStackBits);
    static constexpr unsigned kThreadBits = 20;
    static constexpr unsigned kNumberBits =
        64 - kStackBits - kThreadBits; // those above the place's

    static bool fits(std::uint64_t thread, std::uint64_t number) noexcept
    {
        return thread < (std::uint64_t{1} << kThreadBits) - 1 &&
               number >> (kNumberBits + kPlaceBits) == 0;
    }
    static std::uint64_t key_of(std::uint64_t thread, std::uint64_t number) noexcept
    {
        return (number >> kPlaceBits) << kThreadBits | (thread + 1);
    }
    std::atomic<std::uint64_t>& place_of(std::uint64_t thread, std::uint64_t number) const noexcept
    {
        return places_[(number + thread * 40503) % kPlaces];
    }

    std::atomic<std::uint64_t>* places_ = nullptr; // key and stack; 0: none is kept here
};
extern constinit Origins origins;

// Answers for the node that the calling thread runs: the id of its origin, or 0. Null: there is no
// such framework. The thread is ready.
using FindOrigin = std::uint32_t (*)(Thread& thread) noexcept;
extern constinit std::atomic<FindOrigin> find_origin;

// False: there is no memory for it. To be called once before find_origin is set.
bool open_origins() noexcept;
// The id of the stack that consists of this one and of the origin of what the thread does; `stack`
// itself if there is none. `stack` may be 0, and then it is the origin. The thread is ready.
std::uint32_t add_origin(Thread& thread, std::uint32_t stack) noexcept;
// The origin of a node that was made by nothing in particular: it adds up the gradient of a leaf
// tensor. 0: it could not be written. The thread is ready.
std::uint32_t origin_of_leaf(Thread& thread) noexcept;
void forget_origins_of_parent() noexcept;

} // namespace vramscope::log
