// tracker/capture/python/placing.cpp — by address, else by counting.
#include "tracker/capture/python/placing.hpp"

#include "tracker/capture/eh_frame.hpp"

namespace vramscope::capture::python {
namespace {

// Calls after the last one that runs a frame are of no interest.
std::size_t calls_of(const Stack& stack) noexcept
{
    return stack.frames[stack.count - 1].call + std::size_t{1};
}

} // namespace

bool place_by_address(const Stack& stack, FrameWalk native, std::size_t most,
                      std::uint32_t* native_of_call) noexcept
{
    const std::uintptr_t first = native.frame();
    FrameWalk::Step step = native.step();
    std::size_t at = 0; // the native frame that ends at native.frame()
    for (std::size_t call = 0; call < calls_of(stack); ++call) {
        const std::uintptr_t address = stack.calls[call];
        while (step == FrameWalk::Step::caller && address >= native.frame() && at < most)
            if (++at < most)
                step = native.step();
        const bool inside = address >= first && (at == most || address < native.frame());
        if (step == FrameWalk::Step::unknown || !inside)
            return false;
        native_of_call[call] = static_cast<std::uint32_t>(at);
    }
    return true;
}

bool place_by_counting(const Stack& stack, std::uintptr_t loop, const NativeStack& native,
                       std::uint32_t* native_of_call) noexcept
{
    const std::size_t placed = calls_of(stack);
    std::size_t call = 0;
    for (std::size_t at = 0; loop && at < native.addresses.size(); ++at) {
        FrameEntry entry;
        if (!find_frame_entry(native.addresses[at] - 1, entry) || entry.function != loop)
            continue;
        if (call == placed)
            return stack.truncated;
        native_of_call[call++] = static_cast<std::uint32_t>(at);
    }
    if (call < placed && !native.truncated)
        return false;
    while (call < placed)
        native_of_call[call++] = static_cast<std::uint32_t>(native.addresses.size());
    return true;
}

} // namespace vramscope::capture::python
