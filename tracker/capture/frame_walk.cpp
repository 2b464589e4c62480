// tracker/capture/frame_walk.cpp — one rule, two words of the stack, the next frame.
#include "tracker/capture/frame_walk.hpp"

#include <cstring>

namespace vramscope::capture {
namespace {

// A place that is not proven yet may be any part of the stack, even a sanitizer's red zone.
__attribute__((no_sanitize("address", "thread"))) StackWord word_at(std::uintptr_t at) noexcept
{
    StackWord word{at, 0};
    std::memcpy(&word.value, reinterpret_cast<const void*>(at), sizeof word.value);
    return word;
}

std::uintptr_t beyond(std::uintptr_t address, std::int32_t offset) noexcept
{
    return address + static_cast<std::uintptr_t>(std::int64_t{offset});
}

} // namespace

[[gnu::noinline]] const FrameRule& FrameRules::add(Pair& pair,
                                                   std::uintptr_t return_address) noexcept
{
    pair.other = pair.last;
    pair.last = {return_address, frame_rule(return_address)};
    return pair.last.rule;
}

void FrameRules::forget() noexcept
{
    std::memset(static_cast<void*>(&known_), 0, sizeof known_);
}

// The hook begins with push %rbp; mov %rsp, %rbp.
FrameWalk::FrameWalk(FrameRules& rules, std::uintptr_t frame, std::uintptr_t return_address,
                     std::uintptr_t high) noexcept
    : rules_(rules), low_(frame), high_(high), stack_pointer_(frame),
      frame_pointer_(word_at(frame - 16)), return_address_{frame - 8, return_address}
{
}

FrameWalk::Step FrameWalk::step() noexcept
{
    const FrameRule& rule = rules_.of(return_address_.value);
    if (rule.kind == FrameRule::Kind::end) {
        stack_pointer_ = high_;
        return Step::end;
    }
    if (rule.kind != FrameRule::Kind::plain)
        return Step::unknown;
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
    return Step::caller;
}

} // namespace vramscope::capture
