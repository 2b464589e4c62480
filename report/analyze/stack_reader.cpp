// report/analyze/stack_reader.cpp — addresses to frames, and the frames that a reader needs.
#include "report/analyze/stack_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "report/analyze/fingerprint.hpp"
#include "report/analyze/frames.hpp"

namespace vramscope::report {

void append_place(std::string& key, const Frame& frame)
{
    key += frame.module + '\0' + frame.function + '\0';
    if (frame.line > 0)
        key += frame.file + '\0' + std::to_string(frame.line);
    else
        key += std::to_string(frame.offset);
    key += '\0';
}

std::string CallPlace::key() const
{
    std::string key = api + '\0' + entry_point + '\0';
    for (const Frame& frame : stack)
        append_place(key, frame);
    return key;
}

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
    }
    place.api = user_api(place.stack, place.entry_point);
    const FrameRange visible = visible_frames(place.stack);
    place.fingerprint = fingerprint(
        place.api, std::span(place.stack).subspan(visible.begin, visible.end - visible.begin));
    place.suppression = suppression_of(place, known, visible.begin);
    if (all_frames_)
        return place;
    place.stack.erase(place.stack.begin() + static_cast<std::ptrdiff_t>(visible.end),
                      place.stack.end());
    place.stack.erase(place.stack.begin(),
                      place.stack.begin() + static_cast<std::ptrdiff_t>(visible.begin));
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

StackReader::Stack StackReader::known(const LoggedStack& stack, std::uint64_t ticks)
{
    // A stack's number is of one state of the loaded modules: any later time of its use tells
    // which.
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
    if (suppressions_)
        entry->second.rule = suppressions_->match(entry->second.frames);
    return entry->second;
}

} // namespace vramscope::report
