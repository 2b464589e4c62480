// report/page/tables.cpp — see tables.hpp.
#include "report/page/tables.hpp"

#include <fmt/format.h>

#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// Not in the middle of a character.
std::string_view beginning_of(std::string_view text, std::size_t most)
{
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
        --most;
    return text.substr(0, most);
}

} // namespace

Json PageTables::text(std::string_view text)
{
    std::string safe = terminal_safe(text);
    if (safe.size() > limits_.characters) {
        safe = std::string(beginning_of(safe, limits_.characters)) + "…";
        ++cut_texts_;
    }
    const auto [at, added] = numbers_.try_emplace(std::move(safe), strings_.size());
    if (added)
        strings_.push_back(at->first);
    return at->second;
}

std::size_t PageTables::frame(const Frame& frame)
{
    const std::vector<std::size_t> row{text(function_of(frame)),
                                       text(frame.file),
                                       static_cast<std::size_t>(std::max(frame.line, 0)),
                                       text(file_name(frame.module)),
                                       frame.inlined,
                                       frame.library,
                                       frame.python};
    const auto [at, added] = frame_numbers_.try_emplace(row, frame_numbers_.size());
    if (added)
        frames_.add({{"function", row[0]},
                     {"file", row[1]},
                     {"line", row[2]},
                     {"module", row[3]},
                     {"inlined", row[4]},
                     {"library", row[5]},
                     {"python", row[6]}});
    return at->second;
}

Json PageTables::with_call(Json row, const CallPlace& call)
{
    std::vector<std::size_t> numbers;
    for (const Frame& one : call.stack)
        numbers.push_back(frame(one));
    const auto [at, added] = stack_numbers_.try_emplace(numbers, stacks_.size());
    if (added)
        stacks_.push_back(numbers);
    row["api"] = text(call.api);
    row["stack"] = at->second;
    row["own"] = std::min(call.own, call.stack.size());
    return row;
}

void PageTables::note_thinned(std::size_t all, std::size_t shown, const char* what)
{
    thinned_.push_back(fmt::format("{} of {} {} are in this page, the first in their order.",
                                   grouped(shown), grouped(all), what));
}

void PageTables::add_to(Json& document)
{
    if (cut_texts_ > 0)
        thinned_.push_back(fmt::format("Texts of more than {} characters are cut, which is shown.",
                                       grouped(limits_.characters)));
    document["strings"] = std::move(strings_);
    document["frames"] = frames_.take();
    document["stacks"] = std::move(stacks_);
    document["thinned"] = std::move(thinned_);
}

} // namespace vramscope::report
