// tracker/capture/frame_walk.cpp — where a walk begins, and the rules that are kept.
#include "tracker/capture/frame_walk.hpp"

#include <cstring>

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

} // namespace vramscope::capture
