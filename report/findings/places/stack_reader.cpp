// report/findings/places/stack_reader.cpp — addresses to frames, and the frames that are shown.
#include "report/findings/places/stack_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "report/findings/places/fingerprint.hpp"
#include "report/findings/places/frames.hpp"
#include "report/findings/places/library_frames.hpp"

namespace vramscope::report {

CallPlace StackReader::read(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks)
{
    CallPlace place;
    if (api < tables_.apis().size())
        place.entry_point = tables_.apis()[api].name;
    Stack known;
    if (const LoggedStack* const logged = tables_.stack(stack)) {
        known = this->known(*logged, ticks);
        for (const Known* const address : known)
            place.stack.insert(place.stack.end(), address->frames.begin(), address->frames.end());
        place.stack_truncated = logged->truncated;
        place.cut = cut_of(*logged, place.stack, ticks);
    }
    place.api = user_api(place.stack, place.entry_point);
    const FrameRange visible = visible_frames(place.stack);
    place.fingerprint = fingerprint(
        place.api, std::span(place.stack).subspan(visible.begin, visible.end - visible.begin));
    place.suppression = suppression_of(place, known, visible.begin);
    const std::size_t own = innermost_own_frame(place.stack, visible);
    place.own = shown_ == ShownFrames::all       ? own
                : shown_ == ShownFrames::visible ? own - visible.begin
                                                 : 0;
    show_only(place.stack, visible, shown_);
    return place;
}

// Of the API that the user called, then of the frames that led there, innermost first: what lies
// below the API is the same for every program.
std::optional<Suppressions::Rule> StackReader::suppression_of(const CallPlace& place,
                                                              const Stack& known,
                                                              std::size_t first_visible) const
{
    if (!suppressions_)
        return std::nullopt;
    if (const auto rule = suppressions_->match(place.api))
        return rule;
    std::size_t frames = 0;
    for (const Known* const address : known) {
        frames += address->frames.size();
        if (frames > first_visible && address->rule)
            return address->rule;
    }
    if (first_visible < place.stack.size())
        return suppressions_->match_built_in(place.stack[first_visible]);
    return std::nullopt;
}

// The recorder wrote down what its unwinder found, and that stops where there is no table.
StackCut StackReader::cut_of(const LoggedStack& stack, const std::vector<Frame>& frames,
                             std::uint64_t ticks) const
{
    if (stack.truncated || stack.addresses.empty() || begins_here(frames.back()))
        return StackCut::none;
    const std::uint64_t address = stack.addresses.back() - 1;
    const Module* const module =
        tables_.module_at(address, std::max(ticks, stack.known_since_ticks));
    if (!module)
        return StackCut::no_module;
    return symbolizer_.has_unwind_table(module->id, address - module->load_bias).value_or(true)
               ? StackCut::none
               : StackCut::no_unwind_table;
}

StackReader::Stack StackReader::known(const LoggedStack& stack, std::uint64_t ticks)
{
    // A stack's number belongs to one state of the loaded modules, which any later time of its use
    // tells as well.
    ticks = std::max(ticks, stack.known_since_ticks);
    Stack known;
    for (const std::uint64_t address : stack.addresses)
        known.push_back(&at(address - 1, ticks)); // inside the call, not behind it
    return known;
}

const StackReader::Known& StackReader::at(std::uint64_t address, std::uint64_t ticks)
{
    const Module* const module = tables_.module_at(address, ticks);
    const auto [entry, added] = known_.try_emplace({module, address});
    if (!added)
        return entry->second;
    if (module)
        entry->second.frames = symbolizer_.frames(module->id, address - module->load_bias);
    else
        entry->second.frames.push_back(
            {.function = {}, .file = {}, .module = {}, .offset = address});
    for (Frame& frame : entry->second.frames)
        frame.library = is_library(frame);
    if (suppressions_)
        entry->second.rule = suppressions_->match(entry->second.frames);
    return entry->second;
}

} // namespace vramscope::report
