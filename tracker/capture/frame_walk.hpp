// tracker/capture/frame_walk.hpp — from frame to frame of the caller's own stack by plain rules.
//
// It reads nothing but the stack between the hook's frame and the stack's upper end, and it stops
// at the first frame whose rule is not plain (cfi.hpp): an unwinder then takes the whole stack.
// From a signal handler it goes on in what that interrupted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracker/capture/cfi.hpp"

namespace vramscope::capture {

// What unwind tables said, by return address, for most frames are those of other stacks too. It is
// one thread's, and in zeroed memory at first.
class FrameRules {
public:
    const FrameRule& of(std::uintptr_t return_address) noexcept
    {
        Pair& pair = known_[return_address / 16 % known_.size()]; // neighbours share a page
        if (pair.last.return_address == return_address) [[likely]]
            return pair.last.rule;
        return pair.other.return_address == return_address ? pair.other.rule
                                                           : add(pair, return_address);
    }
    void forget() noexcept;

private:
    struct Known {
        std::uintptr_t return_address; // 0: none is kept here
        FrameRule rule;
    };
    // Two that fall to one place, as often happens in a program with a thousand return addresses.
    struct Pair {
        Known last; // the one that was read last
        Known other;
    };
    static const FrameRule& add(Pair& pair, std::uintptr_t return_address) noexcept;
    std::array<Pair, 4096> known_;
};

// A word of the stack, and where it is.
struct StackWord {
    std::uintptr_t at = 0; // 0: there is none
    std::uintptr_t value = 0;
};

class FrameWalk {
public:
    // Begins in the caller of a hook whose canonical frame address is `frame`, and which keeps its
    // caller's rbp at frame - 16. `high` is the upper end of the stack.
    FrameWalk(FrameRules& rules, std::uintptr_t frame, std::uintptr_t return_address,
              std::uintptr_t high) noexcept;

    enum class Step : std::uint8_t {
        unknown, // no plain rule, or one that leads out of the stack
        end,     // the frame was the outermost
        caller,
        interrupted, // a signal came here: no call, and return_address() is the next instruction
    };
    // Goes on to the caller of the frame where it is.
    Step step() noexcept;

    // Canonical frame address of the frame that the last step looked at, which it may have left;
    // the upper end of the stack if it was the outermost; at first, the hook's.
    std::uintptr_t frame() const noexcept { return stack_pointer_; }
    // Where the caller goes on, after a step to it.
    const StackWord& return_address() const noexcept { return return_address_; }
    // The saved frame pointer by which the step found it; none: the stack pointer sufficed.
    const StackWord& found_by() const noexcept { return found_by_; }

private:
    Step step_out_of_handler() noexcept;

    // A place that is not proven yet may be any part of the stack, even a sanitizer's red zone.
    __attribute__((no_sanitize("address", "thread"))) static StackWord
    word_at(std::uintptr_t at) noexcept
    {
        StackWord word{at, 0};
        std::memcpy(&word.value, reinterpret_cast<const void*>(at), sizeof word.value);
        return word;
    }
    static std::uintptr_t beyond(std::uintptr_t address, std::int32_t offset) noexcept
    {
        return address + static_cast<std::uintptr_t>(std::int64_t{offset});
    }

    FrameRules& rules_;
    std::uintptr_t low_;
    std::uintptr_t high_;
    std::uintptr_t stack_pointer_;
    StackWord frame_pointer_;
    StackWord return_address_;
    StackWord found_by_;
    std::uintptr_t to_call_ = 0; // 1 where the rule is wanted of the instruction at the address
};

// Inlined: the state of a walk that goes through a whole stack then lies in registers.
inline FrameWalk::Step FrameWalk::step() noexcept
{
    const FrameRule& rule = rules_.of(return_address_.value + to_call_);
    if (rule.kind == FrameRule::Kind::end) {
        stack_pointer_ = high_;
        return Step::end;
    }
    if (rule.kind != FrameRule::Kind::plain)
        return rule.kind == FrameRule::Kind::signal ? step_out_of_handler() : Step::unknown;
    const std::uintptr_t base = rule.from_frame_pointer ? frame_pointer_.value : stack_pointer_;
    const std::uintptr_t frame = beyond(base, rule.frame_offset);
    if (frame <= stack_pointer_ || frame > high_ || frame % 8 != 0)
        return Step::unknown;
    const auto on_stack = [this](std::uintptr_t at) {
        return at >= low_ && at <= high_ - sizeof(std::uintptr_t);
    };
    const std::uintptr_t slot = beyond(frame, rule.return_address_offset);
    const std::uintptr_t saved = beyond(frame, rule.frame_pointer_offset);
    if (!on_stack(slot) || (rule.saves_frame_pointer && !on_stack(saved)))
        return Step::unknown;
    found_by_ = rule.from_frame_pointer ? frame_pointer_ : StackWord{};
    if (rule.saves_frame_pointer)
        frame_pointer_ = word_at(saved);
    return_address_ = word_at(slot);
    stack_pointer_ = frame;
    to_call_ = 0;
    return Step::caller;
}

} // namespace vramscope::capture
