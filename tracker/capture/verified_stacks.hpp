// tracker/capture/verified_stacks.hpp — recognises a known stack without unwinding it.
//
// A stack that was unwound is remembered as the places of its return addresses (and of the saved
// frame pointers that other places depend on) with the words that were there. When the same stack
// pointer and return address come by again those words are compared; if all match it is the same
// stack, by induction over its frames: the same code address has the same unwind rule, and so the
// next frame is in the same place. A stack with a frame whose rule is not plain (cfi.hpp) is not
// remembered. Each thread has its own, which no other thread touches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::capture {

// The stack that the kernel or the thread library gave this thread. Others (signal stacks,
// fibers) come and go, and a remembered place might not be mapped any more: stacks there are
// unwound each time.
struct StackBounds {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
};
StackBounds own_stack_bounds() noexcept;

class VerifiedStacks {
public:
    // Maps its memory. Null: there is no memory, and stacks are unwound each time.
    static VerifiedStacks* create(const StackBounds& stack) noexcept;
    void destroy() noexcept;
    void forget() noexcept;

    // Id of the stack at this call, or 0: unwind it. `frame` is the canonical frame address of the
    // hook, which keeps its caller's rbp at frame - 16. `epoch` changes when code was unloaded.
    std::uint32_t find(std::uintptr_t frame, std::uintptr_t return_address,
                       std::uint64_t epoch) noexcept;

    // Takes what unwinding found; it is remembered the second time. frames[0] is
    // the return address.
    void learn(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
               bool truncated, std::uint32_t id, std::uint64_t epoch) noexcept;

private:
    // A word of the stack, at `offset` from the hook's frame.
    struct Slot {
        std::int64_t offset;
        std::uintptr_t value;
    };
    // A node of a radix tree: a run of slots that all stacks below it share, then either an id, or
    // one more slot whose value picks the next node. Many callers of one allocating function so
    // share one run.
    struct Node {
        std::uintptr_t parent; // frame of a root; else the parent's children_of
        // The return address for a root, the value of the parent's branch for others.
        std::uintptr_t value;
        std::uint32_t first_slot;
        std::uint32_t slots;
        std::uint32_t id; // 0: it branches
        std::int64_t branch_offset;
        std::uintptr_t children_of; // what the keys of its children are made with
    };
    static constexpr std::size_t kNodes = 8192;
    static constexpr std::size_t kBuckets = 2 * kNodes;
    static constexpr std::size_t kSlots = std::size_t{1} << 17;
    static constexpr std::size_t kCandidates = 4096;
    static constexpr std::size_t kMaxStackSlots = 512;

    Node* lookup(std::uintptr_t parent, std::uintptr_t value) noexcept;
    Node* add_node(std::uintptr_t parent, std::uintptr_t value, const Slot* slots,
                   std::size_t count, std::uint32_t id) noexcept;
    void link(const Node& node) noexcept;
    void insert(std::uintptr_t frame, std::uintptr_t return_address, const Slot* slots,
                std::size_t count, std::uint32_t id) noexcept;
    bool branch(Node& node, std::size_t at, const Slot* rest, std::size_t count,
                std::uint32_t id) noexcept;
    std::size_t describe(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
                         bool truncated, Slot* out) const noexcept;

    StackBounds bounds_;
    std::uint64_t epoch_;
    std::size_t nodes_used_;
    std::size_t slots_used_;
    std::uintptr_t next_children_;
    // The stack that is learnt now. It is not on the thread's own stack, which may be small.
    Slot described_[kMaxStackSlots];
    std::uint64_t candidates_[kCandidates];
    std::uint32_t buckets_[kBuckets]; // index of a node + 1; 0: empty
    Node nodes_[kNodes];
    Slot slots_[kSlots];
};

} // namespace vramscope::capture
