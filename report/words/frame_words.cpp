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

// "grab<int>(int)" of "void grab<int>(int)": only an instance of a template is named with what it
// returns. Operators have spaces of their own.
std::string without_return_type(std::string name)
{
    std::size_t begin = 0;
    bool is_instance = false;
    int depth = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const char c = name[at];
        if (c == '(' && depth == 0) // its parameters
            return is_instance && name.find("operator") == std::string::npos ? name.substr(begin)
                                                                             : name;
        depth += c == '<' || c == '(';
        depth -= (c == '>' || c == ')') && depth > 0;
        is_instance = is_instance || c == '<';
        if (c == ' ' && depth == 0)
            begin = at + 1;
    }
    return name;
}

} // namespace

std::string function_of(const Frame& frame)
{
    if (!frame.function.empty())
        return terminal_safe(without_return_type(without_anonymous_namespaces(frame.function)));
    return fmt::format("{}+{:#x}",
                       frame.module.empty() ? "?" : terminal_safe(file_name(frame.module)),
                       frame.offset);
}

std::string place_of(const Frame& frame)
{
    if (!frame.file.empty())
        return frame.line > 0 ? fmt::format("{}:{}", terminal_safe(frame.file), frame.line)
                              : terminal_safe(frame.file);
    return frame.function.empty() || frame.module.empty()
               ? ""
               : fmt::format("[{}]", terminal_safe(file_name(frame.module)));
}

namespace {

// "a_long_na...:11": the line tells more than the rest of the name. Empty: not even that fits.
std::string shorten_place(const std::string& place, std::size_t room)
{
    constexpr std::size_t kLeastName = 6;
    const std::size_t colon = std::min(place.rfind(':'), place.size());
    const std::string line = place.substr(colon);
    return columns(line) + kLeastName > room
               ? ""
               : cut_at_end(place.substr(0, colon), room - columns(line)) + line;
}

} // namespace

std::string frame_in(const Frame& frame, std::size_t room, const std::vector<std::string>& beside)
{
    constexpr std::size_t kLeastFunction = 12;
    std::string place(file_name(place_of(frame)));
    if (columns(place) + kLeastFunction > room)
        place = shorten_place(place, room - std::min(room, kLeastFunction));
    return shorten_function(function_of(frame), beside, room - columns(place) - 1) +
           (place.empty() ? "" : " " + place);
}

std::string innermost_in(const CallPlace& call, std::size_t room)
{
    const Frame* const own = call.own_frame();
    return own ? frame_in(*own, room) : "(no stack)";
}

std::string own_place(const CallPlace& call)
{
    constexpr std::size_t kColumns = 60;
    const Frame* const frame = call.own_frame();
    return frame ? frame_in(*frame, kColumns) : "";
}

} // namespace vramscope::report
