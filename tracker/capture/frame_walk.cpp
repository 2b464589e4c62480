// tracker/capture/frame_walk.cpp — where a walk begins, and the rules that are kept.
#include "tracker/capture/frame_walk.hpp"

#include <cstddef>
#include <cstring>
#include <ucontext.h>

namespace vramscope::capture {

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

// The handler has returned to the code that ends it: the stack pointer is at the ucontext_t.
[[gnu::noinline, gnu::cold]] FrameWalk::Step FrameWalk::step_out_of_handler() noexcept
{
    const std::uintptr_t context = stack_pointer_;
    if (to_call_ || context < low_ || context % 8 != 0 || high_ - context < sizeof(ucontext_t))
        return Step::unknown;
    const auto saved = [&](int number) {
        return word_at(context + offsetof(ucontext_t, uc_mcontext.gregs) +
                       static_cast<std::size_t>(number) * sizeof(greg_t));
    };
    const std::uintptr_t stack_pointer = saved(REG_RSP).value;
    if (stack_pointer <= context || stack_pointer > high_ || stack_pointer % 8 != 0)
        return Step::unknown;
    frame_pointer_ = saved(REG_RBP);
    return_address_ = saved(REG_RIP);
    found_by_ = {};
    stack_pointer_ = stack_pointer;
    to_call_ = 1;
    return Step::interrupted;
}

} // namespace vramscope::capture
