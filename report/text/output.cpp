// report/text/output.cpp — wrapping, colour and the columns of a stack.
#include "report/text/output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeastWidth = 80;

} // namespace

TextOutput::TextOutput(std::ostream& out, const TextStyle& style)
    : out_(out), style_(style), width_(std::max(style.width, kLeastWidth))
{
}

std::string TextOutput::painted(std::string_view text, const char* color) const
{
    return style_.color ? fmt::format("\x1b[1;{}m{}\x1b[0m", color, text) : std::string(text);
}

void TextOutput::wrapped(std::string_view prefix, std::string_view head, std::string_view text)
{
    const std::size_t indent = columns(head);
    const std::size_t room = width_ - indent - columns(prefix);
    std::string lead(head);
    while (!text.empty()) {
        std::size_t end = text.size();
        if (columns(text) > room) {
            std::size_t space = text.substr(0, room + 1).rfind(' ');
            if (space != std::string_view::npos && space > 0 &&
                text.substr(space).starts_with(" %"))
                space = text.rfind(' ', space - 1);
            end = space == std::string_view::npos || space == 0 ? text.find(' ') : space;
            end = std::min(end, text.size());
        }
        out_ << prefix << lead << text.substr(0, end) << '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
        lead.assign(indent, ' ');
    }
}

void TextOutput::field(std::string_view name, std::string_view value)
{
    wrapped("", fmt::format("{:<11} ", name), value);
}

std::size_t TextOutput::room_behind(std::size_t taken) const
{
    return std::max(width_, taken + 20) - taken;
}

void TextOutput::line(std::string_view head, const CallPlace& call)
{
    out_ << head << innermost_in(call, room_behind(columns(head))) << '\n';
}

void TextOutput::frames(const std::vector<Frame>& stack)
{
    constexpr std::size_t kIndent = 6;
    constexpr std::size_t kGap = 2;
    const std::size_t room = width_ - kIndent - kGap;
    std::size_t place_columns = 0;
    for (const Frame& frame : stack)
        place_columns = std::max(place_columns, columns(place_of(frame)));
    place_columns = std::min(place_columns, room / 2);
    std::size_t function_columns = 0;
    std::vector<std::string> functions;
    for (const Frame& frame : stack) {
        functions.push_back(shorten_function(function_of(frame), room - place_columns));
        function_columns = std::max(function_columns, columns(functions.back()));
    }
    for (std::size_t at = 0; at < stack.size(); ++at) {
        const std::string place = shorten_path(place_of(stack[at]), place_columns);
        const std::size_t gap = function_columns - columns(functions[at]) + kGap;
        out_ << std::string(kIndent, ' ') << functions[at]
             << (place.empty() ? "" : std::string(gap, ' ') + place) << '\n';
    }
}

void TextOutput::stack(const CallPlace& call)
{
    constexpr std::string_view kHead = "      ... ";
    frames(call.stack);
    if (call.stack_truncated)
        out_ << kHead << "(the stack was deeper than what was recorded)\n";
    if (call.cut == StackCut::no_unwind_table)
        wrapped("", kHead,
                fmt::format("(its callers are not known: this code of {} has no unwind table; "
                            "compile it with -fasynchronous-unwind-tables)",
                            terminal_safe(file_name(call.stack.back().module))));
    if (call.cut == StackCut::no_module)
        wrapped("", kHead,
                "(its callers are not known: this code is in no file, and has no unwind table)");
    if (call.cut == StackCut::go_stack)
        wrapped("", kHead, "(its callers are on a stack of Go's own, which is not walked)");
}

} // namespace vramscope::report
