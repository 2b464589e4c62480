// report/job/reduced_lines.cpp — line by line.
#include "report/job/reduced_lines.hpp"

#include <charconv>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/job/reduced_table.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

const Json kNoValue;

} // namespace

std::uint64_t number_in(const Json& value)
{
    if (value.is_number_unsigned())
        return value.get<std::uint64_t>();
    const std::int64_t number = value.is_number_integer() ? value.get<std::int64_t>() : 0;
    return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

std::optional<std::uint32_t> small_number_in(const Json& value)
{
    constexpr std::uint64_t kMost = 1u << 20; // ranks; more is a damaged number
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kMost)
        return std::nullopt;
    return value.get<std::uint32_t>();
}

std::string text_in(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<std::string> texts_in(const Json& list)
{
    std::vector<std::string> texts;
    if (list.is_array())
        for (const Json& text : list)
            texts.push_back(text_in(text));
    return texts;
}

const Json& member_of(const Json& line, std::string_view name)
{
    const auto found = line.find(name);
    return found == line.end() ? kNoValue : *found;
}

Rows::Rows(const Json& line) : line_(line)
{
    if (const Json& columns = member_of(line, "columns"); columns.is_array())
        for (std::size_t at = 0; at < columns.size(); ++at)
            columns_.emplace(text_in(columns[at]), at);
}

const Json& Rows::in(const Json& row, std::string_view column) const
{
    const auto found = columns_.find(column);
    return found != columns_.end() && row.is_array() && found->second < row.size()
               ? row[found->second]
               : kNoValue;
}

bool is_reduced(std::string_view head) noexcept
{
    return head.starts_with(kReducedHead);
}

void ReducedLines::read(std::istream& in)
{
    for (std::string line; std::getline(in, line);)
        take(line);
    if (!any_process_)
        refuse("is the last, and there is no process");
    if (!ended_)
        throw Error(Exit::bad_input,
                    fmt::format("{} is cut: it has {}, and not the one at the end that counts them",
                                name_, counted(line_, "line")));
}

void ReducedLines::refuse(const std::string& why) const
{
    throw Error(Exit::bad_input, fmt::format("{}: line {} {}", name_, line_, why));
}

void ReducedLines::take(const std::string& text)
{
    ++line_;
    if (line_ == 1)
        return check_head(text);
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object())
        refuse("is no JSON object");
    if (ended_)
        refuse("comes after the end: `vramscope reduce` joins tables");
    const std::string type = text_in(member_of(line, "type"));
    if (type == "process") {
        any_process_ = true;
        process(line);
        texts_.clear();
        frames_.clear();
        same_.clear();
        fingerprints_.clear();
        named_bytes_ = 0;
    } else if (!any_process_) {
        refuse("comes before any process");
    } else if (type == "end") {
        ended_ = true;
        return check_end(line);
    } else {
        take_line_of_process(type, line);
    }
    ++counts_[type];
    taken(text);
}

void ReducedLines::take_line_of_process(const std::string& type, const Json& line)
{
    if (type == "device") {
        device(line);
    } else if (type == "timeline") {
        timeline(Rows(line));
    } else if (type == "texts") {
        add_texts(Rows(line));
    } else if (type == "frames") {
        add_frames(Rows(line));
    } else if (type == "sites") {
        sites(Rows(line));
    }
}

// What is cut at the end of a line is as sound to look at as a whole table.
void ReducedLines::check_end(const Json& line) const
{
    ReducedCounts told;
    if (const Json& lines = member_of(line, "lines"); lines.is_object())
        for (const auto& [type, count] : lines.items())
            told[type] = number_in(count);
    for (const auto& [type, count] : counts_)
        told.try_emplace(type, 0);
    for (const auto& [type, count] : told) {
        const auto found = counts_.find(type);
        const std::uint64_t there = found == counts_.end() ? 0 : found->second;
        if (there != count)
            throw Error(Exit::bad_input,
                        fmt::format("{} is {}: it has {} of type {}, and its end says {}", name_,
                                    there < count ? "cut" : "damaged", counted(there, "line"),
                                    terminal_safe(type), count));
    }
}

void ReducedLines::check_head(const std::string& text) const
{
    int version = 0;
    if (!is_reduced(text))
        throw Error(Exit::bad_input, fmt::format("{} is no reduced table", name_));
    std::from_chars(text.data() + kReducedHead.size(), text.data() + text.size(), version);
    if (version != kReducedVersion)
        throw Error(Exit::bad_input,
                    fmt::format("{} is a reduced table of version {}; this vramscope reads "
                                "version {}: make it again with `vramscope reduce`",
                                name_, version, kReducedVersion));
}

void ReducedLines::add_texts(const Rows& rows)
{
    for (const Json& row : rows.all())
        texts_.push_back(text_in(rows.in(row, "text")));
}

// A text may be named in each row: what is copied is bounded, whatever a table says.
std::string ReducedLines::named(const std::string& text)
{
    constexpr std::size_t kMostBytes = std::size_t{256} << 20;
    named_bytes_ += text.size();
    if (named_bytes_ > kMostBytes)
        refuse("names more text than a process has");
    return text;
}

std::string ReducedLines::text_of(const Json& number)
{
    if (!number.is_number_unsigned() || number.get<std::size_t>() >= texts_.size())
        refuse("names a text that is not there");
    return named(texts_[number.get<std::size_t>()]);
}

std::size_t ReducedLines::frame_in(const Json& number) const
{
    if (number.is_null())
        return ReducedFrame::kNone;
    if (!number.is_number_unsigned() || number.get<std::size_t>() >= frames_.size())
        refuse("names a frame that is not there");
    return number.get<std::size_t>();
}

std::string ReducedLines::next_fingerprint(const Json& value)
{
    const std::size_t site = same_.size();
    if (!value.is_number()) {
        same_.push_back(site);
        return fingerprints_[site] = text_in(value);
    }
    if (!value.is_number_unsigned() || value.get<std::size_t>() >= site)
        refuse("names a site that does not come before");
    same_.push_back(same_[value.get<std::size_t>()]);
    return named(fingerprints_[same_.back()]);
}

ReducedFrame ReducedLines::frame_of(const Rows& rows, const Json& row)
{
    ReducedFrame node;
    const Json& up = rows.in(row, "up");
    if (!up.is_number_unsigned() || up.get<std::size_t>() > frames_.size())
        refuse("names a frame that is not there");
    if (up.get<std::size_t>() > 0)
        node.caller = frames_.size() - up.get<std::size_t>();
    node.frame.function = text_of(rows.in(row, "function"));
    const std::uint64_t line = number_in(rows.in(row, "line"));
    node.frame.line = line < INT32_MAX ? static_cast<int>(line) : 0;
    const Json& own = rows.in(row, "file");
    const bool has_callers = own.is_null() && node.caller != ReducedFrame::kNone;
    const auto file_of = [](const Frame& frame) {
        return frame.line > 0 ? frame.file : frame.module;
    };
    (node.frame.line > 0 ? node.frame.file : node.frame.module) =
        has_callers ? named(file_of(frames_[node.caller].frame)) : text_of(own);
    return node;
}

void ReducedLines::add_frames(const Rows& rows)
{
    for (const Json& row : rows.all())
        frames_.push_back(frame_of(rows, row));
}

} // namespace vramscope::report
