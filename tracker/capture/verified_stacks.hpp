// tracker/capture/verified_stacks.hpp — recognises a known stack without unwinding it.
//
// A stack that was unwound is remembered as the places of its return addresses (and of the saved
// frame pointers that other places depend on) with the words that were there. When the same stack
// pointer and return address come by again those words are compared; if all match it is the same
// stack, by induction over its frames: the same code address has the same unwind rule, and so the
// next frame is in the same place. A stack with a frame whose rule is not plain (cfi.hpp) is not
// remembered. Each thread has its own, which no other thread touches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "tracker/capture/frame_walk.hpp"

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

    // Begins a walk in the caller of the hook. Nothing: this is not the thread's own stack. To be
    // called after find(), which forgets the rules of code that was unloaded.
    std::optional<FrameWalk> begin_walk(std::uintptr_t frame,
                                        std::uintptr_t return_address) noexcept;
    // Does what unwind() does, by such a walk alone, and keeps the words that it read for
    // learn_walked(), unless the stack leads out of a signal handler: then it is `interrupting`.
    // Such a stack may end with what was interrupted, for an unwinder takes so long that the next
    // signal would be there. 0: a frame has no plain rule.
    std::size_t walk(std::uintptr_t frame, std::uintptr_t return_address, std::uintptr_t* out,
                     std::size_t capacity, bool& truncated, bool& interrupting) noexcept;

    // Takes what unwinding found; once a quarter of the room is used, it is remembered the second
    // time. frames[0] is the return address.
    void learn(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
               bool truncated, std::uint32_t id, std::uint64_t epoch) noexcept;
    // The same for what walk() found just now.
    void learn_walked(std::uintptr_t frame, std::uintptr_t return_address, std::uint32_t id,
                      std::uint64_t epoch) noexcept;

private:
    // A word of the stack.
    struct Slot {
        std::uintptr_t address;
        std::uintptr_t value;
        bool operator==(const Slot&) const = default;
    };
    // Neighbours in slots_.
    struct Run {
        std::uint32_t first;
        std::uint32_t count;
    };
    // A node of a radix tree: slots that all stacks below it share, then either an id, or one more
    // slot whose value picks the next node. Many callers of one allocating function so share their
    // inner frames. Outer frames are shared as a run that is the tail of many nodes: it is compared
    // so often that it stays in the cache.
    struct alignas(64) Node {
        std::uintptr_t parent; // frame of a root; else the parent's children_of
        // The return address for a root, the value of the parent's branch for others.
        std::uintptr_t value;
        Run own;
        Run tail;
        std::uintptr_t branch_address;
        Node* last_child;          // the one that was picked last, which often comes again, or null
        std::uint32_t children_of; // what the keys of its children are made with
        std::uint32_t id;          // 0: it branches

        std::size_t slots() const noexcept { return std::size_t{own.count} + tail.count; }
    };
    static_assert(sizeof(Node) == 64);
    static constexpr std::size_t kNodes = 8192;
    // Only as many buckets are used as the nodes need, so that few pages hold them.
    static constexpr unsigned kMostBucketBits = 14;
    static constexpr std::size_t kBuckets = std::size_t{1} << kMostBucketBits;
    static constexpr std::size_t kFirstBuckets = kBuckets / 16;
    static_assert(kBuckets >= 2 * kNodes);
    static constexpr std::size_t kSlots = std::size_t{1} << 17;
    static constexpr std::size_t kCandidates = 4096;
    static constexpr std::size_t kMaxStackSlots = 512;
    static constexpr std::size_t kTooManySlots = kMaxStackSlots + 1;
    static constexpr std::size_t kTails = 4096;
    // With more slots of its own before a shared tail, a stack is kept whole, and can be shared.
    static constexpr std::size_t kMostOwnSlots = 8;

    // Each event asks for a bucket, and the keys are few: one multiplication is enough.
    std::size_t bucket_of(std::uintptr_t parent, std::uintptr_t value) const noexcept
    {
        return ((parent ^ std::rotl(value, 32)) * 0x9e3779b97f4a7c15u) >> (64 - kMostBucketBits) &
               last_bucket_;
    }
    static std::uint64_t mix(std::uintptr_t a, std::uintptr_t b) noexcept
    {
        std::uint64_t hash = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
        return hash ^ (hash >> 32);
    }
    // Reads a place that is not proven yet: by now it may be any part of the stack, even a red zone
    // of a sanitizer's.
    __attribute__((no_sanitize("address", "thread"))) static std::uintptr_t
    load(std::uintptr_t address) noexcept
    {
        std::uintptr_t value;
        std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
        return value;
    }
    template <std::size_t AtOnce>
    std::uintptr_t difference(const Run& run) const noexcept;
    Node* child_of(Node& node) noexcept;
    Node* lookup(std::uintptr_t parent, std::uintptr_t value) noexcept;
    const Slot& slot_of(const Node& node, std::size_t at) const noexcept;
    bool shares_tail(const Slot* slots, std::size_t count, Node& node) const noexcept;
    void add_node(std::uintptr_t parent, std::uintptr_t value, const Slot* slots, std::size_t count,
                  std::uint32_t id) noexcept;
    void link(Node& node) noexcept;
    void grow_buckets() noexcept;
    void insert(std::uintptr_t frame, std::uintptr_t return_address, const Slot* slots,
                std::size_t count, std::uint32_t id) noexcept;
    void branch(Node& node, std::size_t at, const Slot* rest, std::size_t count,
                std::uint32_t id) noexcept;
    void describe_step(const FrameWalk& walk) noexcept;
    bool describe(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
                  bool truncated) noexcept;
    bool is_candidate(std::uintptr_t frame, std::uint32_t id, std::uint64_t epoch) noexcept;
    void keep_described(std::uintptr_t frame, std::uintptr_t return_address,
                        std::uint32_t id) noexcept;

    StackBounds bounds_;
    std::uint64_t epoch_;
    std::size_t nodes_used_;
    std::size_t slots_used_;
    std::uint32_t next_children_;
    std::size_t last_bucket_; // the last that is used; their count is a power of two
    // The words that prove the stack that was walked last, in the order in which one place follows
    // from those before. They are not on the thread's own stack, which may be small.
    Slot described_[kMaxStackSlots];
    std::size_t described_count_;            // kTooManySlots: there was no room for all
    std::uintptr_t described_frame_pointer_; // where the one was that was added last
    std::uint32_t candidates_[kCandidates];
    FrameRules rules_;
    Node* buckets_[kBuckets];
    std::uint32_t tails_[kTails]; // index of a slot in a stack's end + 1; 0: none is kept here
    Node nodes_[kNodes];
    Slot slots_[kSlots]; // after each run that ends a stack, one without an address
};

// What follows is each event's, and is inlined: on a deep stack each level of calls below the
// program's costs it a return that the processor does not foresee.

inline VerifiedStacks::Node* VerifiedStacks::lookup(std::uintptr_t parent,
                                                    std::uintptr_t value) noexcept
{
    for (std::size_t bucket = bucket_of(parent, value);; bucket = (bucket + 1) & last_bucket_) {
        Node* const node = buckets_[bucket];
        if (!node || (node->parent == parent && node->value == value)) [[likely]]
            return node;
    }
}

inline VerifiedStacks::Node* VerifiedStacks::child_of(Node& node) noexcept
{
    const std::uintptr_t value = load(node.branch_address);
    if (!node.last_child || node.last_child->value != value)
        node.last_child = lookup(node.children_of, value);
    return node.last_child;
}

// Zero if all its words are on the stack.
template <std::size_t AtOnce>
inline std::uintptr_t VerifiedStacks::difference(const Run& run) const noexcept
{
    std::uintptr_t difference = 0;
    const auto compare = [&](const Slot& slot) { difference |= load(slot.address) ^ slot.value; };
    const Slot* slot = slots_ + run.first;
    const Slot* const end = slot + run.count;
    if constexpr (AtOnce > 1)
        for (; end - slot >= static_cast<std::ptrdiff_t>(AtOnce); slot += AtOnce)
#pragma GCC unroll 8
            for (std::size_t i = 0; i < AtOnce; ++i)
                compare(slot[i]);
    for (; slot != end; ++slot)
        compare(*slot);
    return difference;
}

inline std::uint32_t VerifiedStacks::find(std::uintptr_t frame, std::uintptr_t return_address,
                                          std::uint64_t epoch) noexcept
{
    if (epoch != epoch_) [[unlikely]] {
        forget();
        epoch_ = epoch;
    }
    for (Node* node = lookup(frame, return_address); node; node = child_of(*node)) {
        if ((difference<1>(node->own) | difference<4>(node->tail)) != 0)
            return 0;
        if (node->id)
            return node->id;
    }
    return 0;
}

} // namespace vramscope::capture
