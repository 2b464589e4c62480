// tracker/capture/verified_stacks.cpp — a radix tree over words of the stack.
#include "tracker/capture/verified_stacks.hpp"

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/capture/signal_frames.hpp"

namespace vramscope::capture {

StackBounds own_stack_bounds() noexcept
{
    StackBounds bounds;
    if (::getpid() == static_cast<pid_t>(::syscall(SYS_gettid))) {
        // The kernel keeps the whole of RLIMIT_STACK below the main stack free of other mappings.
        rlimit limit{};
        ::getrlimit(RLIMIT_STACK, &limit);
        constexpr rlim_t kMost = rlim_t{64} << 20;
        const rlim_t bytes = limit.rlim_cur < kMost ? limit.rlim_cur : kMost;
        bounds.high = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
        bounds.low = bounds.high - bytes;
        return bounds;
    }
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return bounds;
    void* low = nullptr;
    std::size_t bytes = 0;
    if (::pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        bounds.low = reinterpret_cast<std::uintptr_t>(low);
        bounds.high = bounds.low + bytes;
    }
    ::pthread_attr_destroy(&attributes);
    return bounds;
}

VerifiedStacks* VerifiedStacks::create(const StackBounds& stack) noexcept
{
    auto* self = static_cast<VerifiedStacks*>(map_pages(sizeof(VerifiedStacks)));
    if (self) {
        self->bounds_ = stack;
        self->next_children_ = 1;
        self->last_bucket_ = kFirstBuckets - 1;
    }
    return self;
}

void VerifiedStacks::destroy() noexcept
{
    ::munmap(this, sizeof *this);
}

void VerifiedStacks::forget() noexcept
{
    std::memset(buckets_, 0, (last_bucket_ + 1) * sizeof *buckets_);
    last_bucket_ = kFirstBuckets - 1;
    std::memset(candidates_, 0, sizeof candidates_);
    std::memset(tails_, 0, sizeof tails_);
    rules_.forget();
    nodes_used_ = slots_used_ = 0;
    next_children_ = 1;
}

std::optional<FrameWalk> VerifiedStacks::begin_walk(std::uintptr_t frame,
                                                    std::uintptr_t return_address) noexcept
{
    if (frame <= bounds_.low || frame >= bounds_.high)
        return std::nullopt;
    return FrameWalk(rules_, frame, return_address, bounds_.high);
}

[[gnu::flatten]] std::size_t VerifiedStacks::walk(std::uintptr_t frame,
                                                  std::uintptr_t return_address,
                                                  std::uintptr_t* out, std::size_t capacity,
                                                  bool& truncated, bool& interrupting) noexcept
{
    std::optional<FrameWalk> walk = begin_walk(frame, return_address);
    if (!walk)
        return 0;
    described_count_ = described_frame_pointer_ = 0;
    interrupting = false;
    out[0] = return_address;
    std::size_t count = 1;
    for (;;) {
        const FrameWalk::Step step = walk->step();
        if (step == FrameWalk::Step::unknown && !interrupting)
            return 0;
        truncated =
            step == FrameWalk::Step::unknown || (step != FrameWalk::Step::end && count == capacity);
        if (step == FrameWalk::Step::interrupted)
            interrupting = true;
        if (truncated || step == FrameWalk::Step::end)
            break;
        out[count++] = walk->return_address().value;
        describe_step(*walk);
    }
    for (std::size_t deeper = count; truncated && !interrupting && deeper < kHandlerFrames;
         ++deeper)
        if (const FrameWalk::Step step = walk->step(); step != FrameWalk::Step::caller) {
            interrupting = step == FrameWalk::Step::interrupted;
            break;
        }
    if (interrupting) // where what it interrupted goes on is not a word that would be compared
        described_count_ = kTooManySlots;
    return count;
}

// Adds the words by which the last step found the caller.
void VerifiedStacks::describe_step(const FrameWalk& walk) noexcept
{
    if (described_count_ + 2 > kMaxStackSlots) {
        described_count_ = kTooManySlots;
        return;
    }
    const auto add = [this](const StackWord& word) {
        described_[described_count_++] = {word.at, word.value};
    };
    const StackWord& found_by = walk.found_by();
    if (found_by.at && found_by.at != described_frame_pointer_) {
        add(found_by);
        described_frame_pointer_ = found_by.at;
    }
    add(walk.return_address());
}

// False: the unwinder saw something else.
bool VerifiedStacks::describe(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
                              bool truncated) noexcept
{
    FrameWalk walk(rules_, frame, frames[0], bounds_.high);
    described_count_ = described_frame_pointer_ = 0;
    for (std::size_t i = 0;; ++i) {
        const FrameWalk::Step step = walk.step();
        if (i + 1 == count)
            return truncated || step == FrameWalk::Step::end;
        if (step != FrameWalk::Step::caller || walk.return_address().value != frames[i + 1])
            return false;
        describe_step(walk);
    }
}

// Whether it is to be remembered now: it has come for the second time, or there is much room.
bool VerifiedStacks::is_candidate(std::uintptr_t frame, std::uint32_t id,
                                  std::uint64_t epoch) noexcept
{
    if (epoch != epoch_ || frame <= bounds_.low || frame >= bounds_.high)
        return false;
    if (4 * nodes_used_ < kNodes && 4 * slots_used_ < kSlots)
        return true;
    const std::uint32_t candidate = static_cast<std::uint32_t>(mix(frame, id)) | 1;
    std::uint32_t& seen = candidates_[candidate / 2 % kCandidates];
    return std::exchange(seen, candidate) == candidate;
}

void VerifiedStacks::keep_described(std::uintptr_t frame, std::uintptr_t return_address,
                                    std::uint32_t id) noexcept
{
    if (described_count_ == 0 || described_count_ == kTooManySlots)
        return;
    if (nodes_used_ + 2 > kNodes || slots_used_ + described_count_ + 1 > kSlots)
        forget();
    if (4 * (nodes_used_ + 2) > last_bucket_ + 1 && last_bucket_ + 1 < kBuckets)
        grow_buckets();
    insert(frame, return_address, described_, described_count_, id);
}

void VerifiedStacks::learn(std::uintptr_t frame, const std::uintptr_t* frames, std::size_t count,
                           bool truncated, std::uint32_t id, std::uint64_t epoch) noexcept
{
    if (is_candidate(frame, id, epoch) && describe(frame, frames, count, truncated))
        keep_described(frame, frames[0], id);
}

void VerifiedStacks::learn_walked(std::uintptr_t frame, std::uintptr_t return_address,
                                  std::uint32_t id, std::uint64_t epoch) noexcept
{
    if (is_candidate(frame, id, epoch))
        keep_described(frame, return_address, id);
}

void VerifiedStacks::grow_buckets() noexcept
{
    const std::size_t count = 4 * (last_bucket_ + 1);
    std::memset(buckets_, 0, count * sizeof *buckets_);
    last_bucket_ = count - 1;
    for (std::size_t i = 0; i < nodes_used_; ++i)
        link(nodes_[i]);
}

void VerifiedStacks::link(Node& node) noexcept
{
    std::size_t bucket = bucket_of(node.parent, node.value);
    while (buckets_[bucket])
        bucket = (bucket + 1) & last_bucket_;
    buckets_[bucket] = &node;
}

const VerifiedStacks::Slot& VerifiedStacks::slot_of(const Node& node, std::size_t at) const noexcept
{
    return at < node.own.count ? slots_[node.own.first + at]
                               : slots_[node.tail.first + at - node.own.count];
}

// Finds an end that these slots have in common with a known stack. False: it would be too short.
bool VerifiedStacks::shares_tail(const Slot* slots, std::size_t count, Node& node) const noexcept
{
    for (std::size_t own = 0; own < count && own <= kMostOwnSlots; ++own) {
        const std::uint32_t kept = tails_[mix(slots[own].address, slots[own].value) % kTails];
        if (kept == 0)
            continue;
        const std::uint32_t first = kept - 1;
        std::size_t same = 0;
        while (own + same < count && slots_[first + same] == slots[own + same])
            ++same;
        if (own + same < count || slots_[first + same].address != 0)
            continue;
        node.own.count = static_cast<std::uint32_t>(own);
        node.tail = {first, static_cast<std::uint32_t>(same)};
        return true;
    }
    return false;
}

void VerifiedStacks::add_node(std::uintptr_t parent, std::uintptr_t value, const Slot* slots,
                              std::size_t count, std::uint32_t id) noexcept
{
    const auto first = static_cast<std::uint32_t>(slots_used_);
    Node& node = nodes_[nodes_used_++];
    node = {parent, value,   {first, 0},       {first, static_cast<std::uint32_t>(count)},
            0,      nullptr, next_children_++, id};
    const bool shares = shares_tail(slots, count, node);
    const std::size_t stored = shares ? node.own.count : count;
    std::copy_n(slots, stored, slots_ + first);
    slots_used_ += stored;
    if (!shares) {
        for (std::uint32_t i = 0; i < count; ++i)
            tails_[mix(slots[i].address, slots[i].value) % kTails] = first + i + 1;
        slots_[slots_used_++] = {};
    }
    link(node);
}

void VerifiedStacks::insert(std::uintptr_t frame, std::uintptr_t return_address, const Slot* slots,
                            std::size_t count, std::uint32_t id) noexcept
{
    Node* node = lookup(frame, return_address);
    if (!node) {
        add_node(frame, return_address, slots, count, id);
        return;
    }
    for (;;) {
        std::size_t same = 0;
        while (same < node->slots() && same < count && slot_of(*node, same) == slots[same])
            ++same;
        slots += same;
        count -= same;
        if (same < node->slots()) {
            // The place is the same where all before it is; else the code has changed under us.
            if (count == 0 || slot_of(*node, same).address != slots[0].address)
                return forget();
            return branch(*node, same, slots, count, id);
        }
        if (node->id || count == 0)
            return; // known, or one stack ends within another: the unwinder takes it
        if (slots[0].address != node->branch_address)
            return forget();
        Node* child = lookup(node->children_of, slots[0].value);
        if (!child)
            return add_node(node->children_of, slots[0].value, slots + 1, count - 1, id);
        node = child;
        ++slots;
        --count;
    }
}

// Splits `node` before its slot `at`: what followed moves to a child, the new stack is
// the other child.
void VerifiedStacks::branch(Node& node, std::size_t at, const Slot* rest, std::size_t count,
                            std::uint32_t id) noexcept
{
    const Slot split = slot_of(node, at);
    const auto before = [](Run run, std::size_t slots) {
        return Run{run.first, std::min(run.count, static_cast<std::uint32_t>(slots))};
    };
    const auto after = [](Run run, std::size_t slots) {
        const std::uint32_t left_out = std::min(run.count, static_cast<std::uint32_t>(slots));
        return Run{run.first + left_out, run.count - left_out};
    };
    const std::size_t in_tail = at < node.own.count ? 0 : at - node.own.count;
    const bool splits_tail = at >= node.own.count;
    Node& end = nodes_[nodes_used_++];
    end = node; // keeps its id or its own children
    end.own = after(node.own, at + 1);
    end.tail = after(node.tail, splits_tail ? in_tail + 1 : 0);
    end.value = split.value;
    node.own = before(node.own, at);
    node.tail = before(node.tail, in_tail);
    node.id = 0;
    node.last_child = nullptr;
    node.branch_address = split.address;
    node.children_of = next_children_++;
    end.parent = node.children_of;
    link(end);
    add_node(node.children_of, rest[0].value, rest + 1, count - 1, id);
}

} // namespace vramscope::capture
