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
#include <cstring>

#include "tracker/capture/cfi.hpp"

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
    // What the unwind table says of an address. Most frames are those of other stacks too.
    struct KnownRule {
        std::uintptr_t return_address; // 0: none is kept here
        FrameRule rule;
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
    static constexpr std::size_t kRules = 4096;

    static std::uint64_t mix(std::uintptr_t a, std::uintptr_t b) noexcept
    {
        std::uint64_t hash = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
        return hash ^ (hash >> 32);
    }
    // A place that is not proven yet may by now be any part of the stack, even a sanitizer's red
    // zone.
    __attribute__((no_sanitize("address", "thread"))) static std::uintptr_t
    load(std::uintptr_t frame, std::int64_t offset) noexcept
    {
        std::uintptr_t value;
        std::memcpy(&value,
                    reinterpret_cast<const void*>(frame + static_cast<std::uintptr_t>(offset)),
                    sizeof value);
        return value;
    }
    bool run_matches(const Node& node, std::uintptr_t frame) const noexcept;
    Node* lookup(std::uintptr_t parent, std::uintptr_t value) noexcept;
    Node* add_node(std::uintptr_t parent, std::uintptr_t value, const Slot* slots,
                   std::size_t count, std::uint32_t id) noexcept;
    void link(const Node& node) noexcept;
    void insert(std::uintptr_t frame, std::uintptr_t return_address, const Slot* slots,
                std::size_t count, std::uint32_t id) noexcept;
    bool branch(Node& node, std::size_t at, const Slot* rest, std::size_t count,
                std::uint32_t id) noexcept;
    const FrameRule& rule_of(std::uintptr_t return_address) noexcept;
    std::size_t describe(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
                         bool truncated, Slot* out) noexcept;

    StackBounds bounds_;
    std::uint64_t epoch_;
    std::size_t nodes_used_;
    std::size_t slots_used_;
    std::uintptr_t next_children_;
    // The stack that is learnt now. It is not on the thread's own stack, which may be small.
    Slot described_[kMaxStackSlots];
    std::uint64_t candidates_[kCandidates];
    KnownRule rules_[kRules];
    std::uint32_t buckets_[kBuckets]; // index of a node + 1; 0: empty
    Node nodes_[kNodes];
    Slot slots_[kSlots];
};

// What follows is each event's, and is inlined: on a deep stack each level of calls below the
// program's costs it a return that the processor does not foresee.

inline VerifiedStacks::Node* VerifiedStacks::lookup(std::uintptr_t parent,
                                                    std::uintptr_t value) noexcept
{
    for (std::size_t bucket = mix(parent, value) % kBuckets;; bucket = (bucket + 1) % kBuckets) {
        if (buckets_[bucket] == 0)
            return nullptr;
        Node& node = nodes_[buckets_[bucket] - 1];
        if (node.parent == parent && node.value == value)
            return &node;
    }
}

inline bool VerifiedStacks::run_matches(const Node& node, std::uintptr_t frame) const noexcept
{
    std::uintptr_t difference = 0;
    const Slot* const end = slots_ + node.first_slot + node.slots;
#pragma GCC unroll 4
    for (const Slot* slot = slots_ + node.first_slot; slot != end; ++slot)
        difference |= load(frame, slot->offset) ^ slot->value;
    return difference == 0;
}

inline std::uint32_t VerifiedStacks::find(std::uintptr_t frame, std::uintptr_t return_address,
                                          std::uint64_t epoch) noexcept
{
    if (epoch != epoch_) [[unlikely]] {
        forget();
        epoch_ = epoch;
    }
    for (const Node* node = lookup(frame, return_address); node;
         node = lookup(node->children_of, load(frame, node->branch_offset))) {
        if (!run_matches(*node, frame))
            return 0;
        if (node->id)
            return node->id;
    }
    return 0;
}

} // namespace vramscope::capture
