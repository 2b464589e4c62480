// report/rules/rule_text.cpp — what a word may be, and where it is not.
#include "report/rules/rule_text.hpp"

#include <charconv>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostPattern = 256;

constexpr bool is_name_character(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

} // namespace

std::size_t RuleText::skip_space()
{
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t'))
        ++at_;
    return at_;
}

bool RuleText::at_end()
{
    skip_space();
    return at_ == line_.size() || line_[at_] == '#';
}

bool RuleText::take(std::string_view word)
{
    const std::size_t begin = at_;
    if (take_word() == word)
        return true;
    at_ = begin;
    return false;
}

std::string_view RuleText::take_word()
{
    skip_space();
    const std::size_t begin = at_;
    while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t')
        ++at_;
    return line_.substr(begin, at_ - begin);
}

std::string_view RuleText::take_name()
{
    const std::size_t begin = skip_space();
    while (at_ < line_.size() && is_name_character(line_[at_]))
        ++at_;
    const std::string_view name = line_.substr(begin, at_ - begin);
    if (name.empty() || name.size() > kMostRuleName || at_ == line_.size() || line_[at_] != ':')
        refuse(begin, "a line begins with owner, or with the name of a rule and a colon, such "
                      "as steady:, or with # before a comment");
    ++at_;
    return name;
}

std::string RuleText::take_text(const char* wanted)
{
    const std::size_t begin = skip_space();
    std::string text;
    if (at_ < line_.size() && line_[at_] == '"') {
        const std::size_t end = line_.find('"', at_ + 1);
        if (end == line_.npos)
            refuse(begin, "this text has no quote at its end");
        text = line_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
    } else {
        text = take_word();
    }
    if (text.empty() || text.size() > kMostPattern)
        refuse(begin, fmt::format("write {}", wanted));
    return text;
}

std::uint64_t RuleText::take_number(const char* wanted)
{
    const std::size_t begin = skip_space();
    const auto number = whole(take_word());
    if (!number || *number > UINT32_MAX)
        refuse(begin, fmt::format("write {}", wanted));
    return *number;
}

// An expression is searched for in polynomial time, without recursion: a name may have
// thousands of characters.
std::shared_ptr<const std::regex> RuleText::take_expression()
{
    const std::size_t begin = skip_space();
    if (at_ == line_.size() || line_[at_] != '/')
        refuse(begin, "write a regular expression between slashes, such as /KVCache::/");
    std::string text;
    for (++at_; at_ < line_.size() && line_[at_] != '/'; ++at_) {
        if (line_.substr(at_).starts_with("\\/"))
            ++at_;
        text += line_[at_];
    }
    if (at_ == line_.size())
        refuse(begin, "this expression has no slash at its end");
    ++at_;
    if (text.empty() || text.size() > kMostPattern)
        refuse(begin, fmt::format("an expression has 1 to {} characters", kMostPattern));
    try {
        return std::make_shared<const std::regex>(
            text, std::regex::ECMAScript | std::regex::nosubs | std::regex_constants::__polynomial);
    } catch (const std::regex_error&) {
        refuse(begin, "this is no regular expression of ECMAScript without back references");
    }
}

format::Memory RuleText::take_kind()
{
    const std::size_t begin = skip_space();
    const std::string_view word = take_word();
    for (const format::MemoryKind& kind : format::kMemoryKinds)
        if (kind.memory != format::Memory::none && kind.name == word)
            return kind.memory;
    refuse(begin, "write a kind of memory: device, pinned, managed, async, suballocated or "
                  "another that reports name");
}

void RuleText::refuse(std::size_t column, std::string_view what) const
{
    throw Error(Exit::usage, fmt::format("{}:{}: {}", place_, column + 1, what));
}

std::optional<std::uint64_t> RuleText::whole(std::string_view word)
{
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || problem != std::errc() || end != word.data() + word.size())
        return std::nullopt;
    return number;
}

} // namespace vramscope::report
