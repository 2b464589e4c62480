// report/text/plan/peak.cpp — what the peak is made of, what saves, and what keeps segments.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownHolders = 8;
constexpr std::size_t kShownPins = 5;
constexpr std::size_t kShownSharing = 5;

void write_pins(TextOutput& out, const char* when, const std::vector<PlanPin>& pins)
{
    std::uint64_t pinned = 0;
    for (const PlanPin& pin : pins)
        pinned += pin.pinned;
    if (pinned == 0)
        return;
    out.stream() << "  Pinned " << when << ": free memory in segments that blocks of these keep\n";
    for (std::size_t at = 0; at < std::min(kShownPins, pins.size()); ++at) {
        const PlanPin& pin = pins[at];
        out.line(fmt::format("  {:>10}  by {} of {} in {}: ", human_bytes(pin.pinned),
                             counted(pin.blocks, "block"), human_bytes(pin.bytes),
                             counted(pin.segments, "segment")),
                 pin);
    }
}

} // namespace

void write_plan_holders(TextOutput& out, const PlanDevice& device)
{
    out.stream() << fmt::format("  At the peak, {} after the start, {} are live\n",
                                human_time(device.live_peak_ns), human_bytes(device.live_peak));
    const std::size_t shown = std::min(kShownHolders, device.holders.size());
    std::uint64_t rest = device.more_bytes;
    for (std::size_t at = shown; at < device.holders.size(); ++at)
        rest += device.holders[at].bytes;
    std::vector<std::uint64_t> bytes;
    for (std::size_t at = 0; at < shown; ++at)
        bytes.push_back(device.holders[at].bytes);
    bytes.push_back(rest);
    const std::vector<std::string> parts = shares(bytes);
    for (std::size_t at = 0; at < shown; ++at)
        out.line(fmt::format("  {:>8} {:>10}  ", parts[at], human_bytes(bytes[at])),
                 device.holders[at]);
    if (rest > 0)
        out.stream() << fmt::format(
            "  {:>8} {:>10}  {}\n", parts.back(), human_bytes(rest),
            counted(device.holders.size() - shown + device.more_holders, "more call stack"));
}

void write_plan_savings(TextOutput& out, const PlanDevice& device)
{
    if (device.savings.empty())
        return;
    out.stream() << "  What a change would save, replayed: reserved at most, and live at most\n";
    for (const PlanSaving& saving : device.savings)
        out.wrapped("", fmt::format("  {:>10}  ", human_bytes(saving.saves_reserved)),
                    fmt::format("{} live, if {} in {} were {}: {}", human_bytes(saving.saves_live),
                                human_bytes(saving.bytes), counted(saving.blocks, "block"),
                                change_of(saving), innermost_in(saving, out.room_behind(30))));
}

void write_plan_sharing(TextOutput& out, const PlanDevice& device)
{
    if (device.sharing.empty())
        return;
    out.stream()
        << "  What one buffer for two call stacks would save, replayed: reserved at most\n";
    const auto place = [&](const PlanHolder& stack) {
        return fmt::format("{} of {}", human_bytes(stack.bytes),
                           innermost_in(stack, out.room_behind(30)));
    };
    for (std::size_t at = 0; at < std::min(kShownSharing, device.sharing.size()); ++at) {
        const PlanSharing& sharing = device.sharing[at];
        out.wrapped("", fmt::format("  {:>10}  ", human_bytes(sharing.saves_reserved)),
                    fmt::format("with {} for {} and {}, {}", human_bytes(sharing.bytes),
                                place(sharing.first), place(sharing.second),
                                sharing.at_once ? "beside each other where both are live"
                                                : "which are never live at once"));
    }
}

void write_plan_packing(TextOutput& out, const PlanDevice& device)
{
    if (!device.packing)
        return;
    const PlanPacking& packing = *device.packing;
    const std::uint64_t reserved = device.policies.front().peak_reserved;
    out.wrapped("", "  If blocks that do not live together shared memory: ",
                fmt::format("between {} and {} ({}){}", human_bytes(packing.lower),
                            human_bytes(packing.upper), packing.method,
                            reserved > packing.upper
                                ? fmt::format(", {} less than is reserved",
                                              human_bytes(reserved - packing.upper))
                                : ""));
}

void write_plan_pins(TextOutput& out, const PlanDevice& device)
{
    write_pins(out, "at the peak", device.pins_at_peak);
    write_pins(out, "at the end", device.pins_at_end);
}

} // namespace vramscope::report
