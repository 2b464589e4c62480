// report/words/frame_words.cpp — functions and places, with the noise left out.
#include "report/words/frame_words.hpp"

#include <string_view>

#include <fmt/format.h>

#include "report/model/call_place.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// True of half of all CUDA code and of no use to a reader.
std::string without_anonymous_namespaces(std::string name)
{
    constexpr std::string_view kNoise = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = name.find(kNoise, at)) != std::string::npos;)
        name.erase(at, kNoise.size());
    return name;
}

} // namespace

std::string function_of(const Frame& frame)
{
    if (!frame.function.empty())
        return terminal_safe(without_anonymous_namespaces(frame.function));
    return fmt::format("{}+{:#x}",
                       frame.module.empty() ? "?" : terminal_safe(file_name(frame.module)),
                       frame.offset);
}

std::string place_of(const Frame& frame)
{
    if (!frame.file.empty())
        return frame.line > 0 ? fmt::format("{}:{}", terminal_safe(frame.file), frame.line)
                              : terminal_safe(frame.file);
    return frame.function.empty() ? ""
                                  : fmt::format("[{}]", terminal_safe(file_name(frame.module)));
}

std::string frame_in(const Frame& frame, std::size_t room)
{
    std::string place(file_name(place_of(frame)));
    if (columns(place) + 12 > room)
        place.clear();
    return shorten_function(function_of(frame), room - columns(place) - 1) +
           (place.empty() ? "" : " " + place);
}

std::string innermost_in(const CallPlace& call, std::size_t room)
{
    return call.stack.empty() ? "(no stack)" : frame_in(call.stack.front(), room);
}

} // namespace vramscope::report
