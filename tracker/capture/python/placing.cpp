// tracker/capture/python/placing.cpp — by address, else by counting.
#include "tracker/capture/python/placing.hpp"

#include <cstring>

#include "tracker/capture/cfi.hpp"
#include "tracker/capture/eh_frame.hpp"

namespace vramscope::capture::python {
namespace {

__attribute__((no_sanitize("address", "thread"))) std::uintptr_t word(std::uintptr_t at) noexcept
{
    std::uintptr_t value;
    std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
    return value;
}

std::uintptr_t moved(std::uintptr_t address, std::int32_t by) noexcept
{
    return address + static_cast<std::uintptr_t>(std::int64_t{by});
}

// Goes from native frame to native frame, each of which ends at its canonical frame address.
class FrameEnds {
public:
    explicit FrameEnds(const NativeStack& native) noexcept
        : native_(native), end_(native.frame), frame_pointer_(word(native.frame - 16))
    {
        known_ = native.high != 0 && step();
    }

    // Index of the native frame that an address of the stack lies in, or the number of all if it
    // lies beyond them. Addresses must rise. False: that is not known.
    bool find(std::uintptr_t address, std::uint32_t& index) noexcept
    {
        while (known_ && at_ < native_.addresses.size() && address >= end_) {
            ++at_;
            known_ = at_ == native_.addresses.size() || step();
        }
        index = static_cast<std::uint32_t>(at_);
        return known_ && address >= native_.frame;
    }

private:
    // False: the frame has no plain rule, or it is not where its rule says.
    bool step() noexcept
    {
        const FrameRule rule = frame_rule(native_.addresses[at_]);
        if (rule.kind == FrameRule::Kind::end) {
            end_ = native_.high;
            return true;
        }
        const std::uintptr_t cfa =
            moved(rule.from_frame_pointer ? frame_pointer_ : end_, rule.frame_offset);
        if (rule.kind != FrameRule::Kind::plain || cfa <= end_ || cfa > native_.high ||
            cfa % 8 != 0)
            return false;
        const bool is_last = at_ + 1 == native_.addresses.size();
        if (!is_last && word(moved(cfa, rule.return_address_offset)) != native_.addresses[at_ + 1])
            return false;
        if (rule.saves_frame_pointer)
            frame_pointer_ = word(moved(cfa, rule.frame_pointer_offset));
        end_ = cfa;
        return true;
    }

    const NativeStack& native_;
    std::size_t at_ = 0;
    std::uintptr_t end_; // of the frame `at_`
    std::uintptr_t frame_pointer_;
    bool known_;
};

// Calls behind the last one that runs a frame are of no interest.
std::size_t calls_of(const Stack& stack) noexcept
{
    return stack.frames[stack.count - 1].call + std::size_t{1};
}

bool place_by_address(const Stack& stack, const NativeStack& native,
                      std::uint32_t* native_of_call) noexcept
{
    FrameEnds ends(native);
    for (std::size_t call = 0; call < calls_of(stack); ++call)
        if (!ends.find(stack.calls[call], native_of_call[call]))
            return false;
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

} // namespace

bool place(const Stack& stack, std::uintptr_t loop, const NativeStack& native,
           std::uint32_t* native_of_call) noexcept
{
    return stack.count > 0 && !native.addresses.empty() &&
           (place_by_address(stack, native, native_of_call) ||
            place_by_counting(stack, loop, native, native_of_call));
}

} // namespace vramscope::capture::python
