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
    if (const LoggedStack* const logged = tables_.stack(stack)) {
        place.stack = frames(*logged, ticks);
        place.stack_truncated = logged->truncated;
    }
    place.api = user_api(place.stack, place.entry_point);
    const FrameRange visible = visible_frames(place.stack);
    place.fingerprint = fingerprint(
        place.api, std::span(place.stack).subspan(visible.begin, visible.end - visible.begin));
    if (all_frames_)
        return place;
    place.stack.erase(place.stack.begin() + static_cast<std::ptrdiff_t>(visible.end),
                      place.stack.end());
    place.stack.erase(place.stack.begin(),
                      place.stack.begin() + static_cast<std::ptrdiff_t>(visible.begin));
    return place;
}

std::vector<Frame> StackReader::frames(const LoggedStack& stack, std::uint64_t ticks)
{
    // A stack's number is of one state of the loaded modules: any later time of its use tells
    // which.
    ticks = std::max(ticks, stack.known_since_ticks);
    std::vector<Frame> frames;
    for (const std::uint64_t address : stack.addresses) {
        const std::vector<Frame>& found = at(address - 1, ticks); // inside the call, not behind it
        frames.insert(frames.end(), found.begin(), found.end());
    }
    return frames;
}

const std::vector<Frame>& StackReader::at(std::uint64_t address, std::uint64_t ticks)
{
    const Module* const module = tables_.module_at(address, ticks);
    const auto [entry, added] = known_.try_emplace({module, address});
    if (added && module)
        entry->second = symbolizer_.frames(module->id, address - module->load_bias);
    else if (added)
        entry->second.push_back({.function = {}, .file = {}, .module = {}, .offset = address});
    return entry->second;
}

} // namespace vramscope::report
