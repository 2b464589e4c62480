// report/words/row_words.cpp — which frame, device and process tell a row from the others.
#include "report/words/row_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeastNameColumns = 20;

// What a reader sees of a stack, from the innermost frame of the program's own on.
std::vector<std::string> shown_frames(const CallPlace& call)
{
    std::vector<std::string> frames;
    for (std::size_t at = call.own; at < call.stack.size(); ++at)
        frames.push_back(function_of(call.stack[at]) + '\n' + place_of(call.stack[at]));
    return frames;
}

// The first frame of `one` that no other stack has after the same frames; 0 where there is none,
// since all that begin alike are alike.
std::size_t telling_frame(const std::vector<std::string>& one,
                          const std::vector<std::vector<std::string>>& all)
{
    std::size_t alike = 0; // the most frames that another one shares from the innermost on
    for (const std::vector<std::string>& other : all) {
        const auto [end, theirs] =
            std::mismatch(one.begin(), one.end(), other.begin(), other.end());
        if (end != one.end() || theirs != other.end())
            alike = std::max(alike, static_cast<std::size_t>(end - one.begin()));
    }
    return alike < one.size() ? alike : one.size() - std::min<std::size_t>(one.size(), 1);
}

std::string owner_of(const ShownRow& row, const std::vector<const ShownRow*>& twins,
                     const Report& report)
{
    const auto differs = [&](auto member) {
        return std::any_of(twins.begin(), twins.end(),
                           [&](const ShownRow* twin) { return twin->*member != row.*member; });
    };
    std::string owner;
    if (differs(&ShownRow::device))
        owner += row.device < 0 ? ", device ?" : fmt::format(", device {}", row.device);
    if (differs(&ShownRow::process))
        owner += ", " + process_name(report, row.process);
    return owner;
}

} // namespace

RowHeadlines::RowHeadlines(const std::vector<ShownRow>& rows, const Report& report)
{
    std::vector<std::vector<std::string>> stacks;
    for (const ShownRow& row : rows)
        stacks.push_back(shown_frames(*row.call));
    for (std::size_t at = 0; at < rows.size(); ++at) {
        std::vector<const ShownRow*> twins;
        for (std::size_t other = 0; other < rows.size(); ++other)
            if (stacks[other] == stacks[at])
                twins.push_back(&rows[other]);
        headlines_.push_back({rows[at].call, rows[at].call->own + telling_frame(stacks[at], stacks),
                              owner_of(rows[at], twins, report)});
    }
}

std::string RowHeadlines::in(std::size_t row, std::size_t room) const
{
    const Headline& headline = headlines_[row];
    const std::vector<Frame>& stack = headline.call->stack;
    const std::size_t names =
        std::max(room, kLeastNameColumns + columns(headline.owner)) - columns(headline.owner);
    if (stack.empty())
        return innermost_in(*headline.call, names) + headline.owner;
    std::vector<std::string> beside;
    for (const Headline& other : headlines_)
        if (!other.call->stack.empty())
            beside.push_back(function_of(other.call->stack[other.frame]));
    const Frame& frame = stack[headline.frame];
    if (headline.frame <= headline.call->own)
        return frame_in(frame, names, beside) + headline.owner;
    // The callee is the same in all of them, so it gets what is left, and a third at most.
    constexpr std::string_view kVia = " via ";
    const std::string callee = shorten_function(function_of(stack[headline.call->own]),
                                                std::max(names / 3, kVia.size()) - kVia.size());
    const std::size_t taken = columns(callee) + kVia.size();
    if (names < taken + 2 * kLeastNameColumns)
        return frame_in(frame, names, beside) + headline.owner;
    return frame_in(frame, names - taken, beside) + std::string(kVia) + callee + headline.owner;
}

} // namespace vramscope::report
