// report/rules/read_rules.cpp — a line at a time, a word at a time; what is wrong has its column.
#include "report/rules/read_rules.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/input_text.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostBytesOfRules = 64 * 1024;
constexpr std::size_t kMostName = 64;
constexpr std::size_t kMostPattern = 256;

struct EventWord {
    std::string_view word;
    RuleEvent event;
};
constexpr EventWord kEvents[] = {{"alloc", RuleEvent::alloc},
                                 {"driver-alloc", RuleEvent::driver_alloc},
                                 {"free", RuleEvent::free},
                                 {"context", RuleEvent::context},
                                 {"graph", RuleEvent::graph}};
constexpr const char* kEventsWanted = "alloc, driver-alloc, free, context or graph";

struct CountedWord {
    std::string_view word;
    format::Memory memory;
};
constexpr CountedWord kCounted[] = {
    {"context", format::Memory::context}, {"graph", format::Memory::graph_exec},
    {"pool", format::Memory::pool},       {"stream", format::Memory::stream},
    {"event", format::Memory::event},     {"module", format::Memory::module},
    {"library", format::Memory::library}};

enum class Argument { none, glob, name, expression, kind, device, steps };
struct ConditionWord {
    std::string_view word;
    std::string_view second; // empty: the condition is one word
    ConditionKind kind;
    Argument argument;
    bool of_owner; // an owner may have it
};
constexpr ConditionWord kConditions[] = {
    {"in", "range", ConditionKind::range, Argument::glob, false},
    {"in", "capture", ConditionKind::capture, Argument::none, false},
    {"after", "first", ConditionKind::first, Argument::steps, false},
    {"after", "mark", ConditionKind::after_mark, Argument::glob, false},
    {"until", "mark", ConditionKind::until_mark, Argument::glob, false},
    {"thread", "", ConditionKind::thread, Argument::glob, false},
    {"kind", "", ConditionKind::memory, Argument::kind, true},
    {"device", "", ConditionKind::device, Argument::device, true},
    {"owner", "", ConditionKind::owner, Argument::name, false},
    {"module", "", ConditionKind::module, Argument::glob, true},
    {"stack", "", ConditionKind::stack, Argument::expression, true},
    {"file", "", ConditionKind::file, Argument::glob, true},
};
constexpr const char* kConditionsWanted =
    "in range, in capture, after first, after mark, until mark, thread, kind, device, owner, "
    "module, stack or file";

constexpr bool is_name_character(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

// One line. What it says of a mistake has none of the line's words: it may be another file, which
// is nobody's to see.
class RuleLine {
public:
    RuleLine(Rules& rules, std::string_view line, std::string place)
        : rules_(rules), line_(line), place_(std::move(place))
    {
    }

    void read()
    {
        skip_space();
        if (at_end())
            return;
        if (take("owner"))
            return read_owner();
        const std::size_t begin = at_;
        while (at_ < line_.size() && is_name_character(line_[at_]))
            ++at_;
        const std::string_view name = line_.substr(begin, at_ - begin);
        if (name.empty() || name.size() > kMostName || at_ == line_.size() || line_[at_] != ':')
            refuse(begin, "a line begins with owner, or with the name of a rule and a colon, such "
                          "as steady:, or with # before a comment");
        if (std::ranges::any_of(rules_.rules, [&](const Rule& rule) { return rule.name == name; }))
            refuse(begin, "another rule has this name");
        ++at_;
        Rule rule;
        rule.name = name;
        if (take("forbid"))
            read_forbidden(rule);
        else if (take("limit"))
            read_limit(rule);
        else
            refuse(skip_space(), "write forbid or limit");
        add(std::move(rule));
    }

    void read_forbid(std::string name)
    {
        Rule rule;
        rule.name = std::move(name);
        read_forbidden(rule);
        add(std::move(rule));
    }

private:
    void add(Rule rule)
    {
        read_conditions(rule);
        if (rules_.rules.size() == kMostRules)
            refuse(0, fmt::format("there are more than {} rules", kMostRules));
        rules_.rules.push_back(std::move(rule));
    }

    void read_forbidden(Rule& rule)
    {
        const std::size_t begin = skip_space();
        const std::string_view word = take_word();
        for (const EventWord& one : kEvents)
            if (one.word == word)
                rule.forbidden = one.event;
        if (!rule.forbidden)
            refuse(begin, fmt::format("write what is forbidden: {}", kEventsWanted));
    }

    void read_limit(Rule& rule)
    {
        if (take("count-live"))
            rule.quantity = RuleQuantity::count_live;
        else if (take("live"))
            rule.quantity = RuleQuantity::live;
        else if (!take("peak"))
            refuse(skip_space(), "write what is limited: peak, live or count-live");
        const std::size_t begin = skip_space();
        const std::string_view word = take_word();
        const auto number =
            rule.quantity == RuleQuantity::count_live ? whole(word) : format::read_size(word);
        if (!number || *number > std::uint64_t{1} << 60)
            refuse(begin, rule.quantity == RuleQuantity::count_live
                              ? "write how many may live at once, such as 16"
                              : "write bytes up to 1024PiB: 0, 4096, 64MiB or 1.5GiB");
        rule.limit = *number;
        if (!take("of"))
            return;
        const std::size_t of = skip_space();
        const std::string_view counted = take_word();
        for (const CountedWord& one : kCounted)
            if (one.word == counted)
                rule.counted = one.memory;
        if (!rule.counted || rule.quantity != RuleQuantity::count_live)
            refuse(of, "write count-live NUMBER of context, graph, pool, stream, event, module or "
                       "library");
    }

    void read_conditions(Rule& rule)
    {
        while (skip_space(), !at_end())
            add_condition(rule.all_of, false);
    }

    void read_owner()
    {
        Owner owner;
        const std::size_t begin = skip_space();
        owner.name = take_text("the owner's name in quotes, such as \"KV cache\"");
        if (owner.name == kOtherOwner || owner.name.size() > kMostName)
            refuse(begin,
                   "an owner's name has at most 64 bytes, and \"other\" is what no owner has");
        do
            add_condition(owner.any_of, true);
        while (take("or"));
        skip_space();
        if (!at_end())
            refuse(at_, "write or before another condition");
        if (rules_.owners.size() == kMostRules)
            refuse(0, fmt::format("there are more than {} owners", kMostRules));
        rules_.owners.push_back(std::move(owner));
    }

    void add_condition(std::vector<Condition>& to, bool of_owner)
    {
        if (to.size() == kMostConditions)
            refuse(skip_space(), fmt::format("there are more than {} conditions", kMostConditions));
        to.push_back(read_condition(of_owner));
    }

    Condition read_condition(bool of_owner)
    {
        const std::size_t begin = skip_space();
        const bool negated = take("not");
        skip_space();
        const std::size_t after_not = at_;
        for (const ConditionWord& word : kConditions) {
            at_ = after_not;
            if (!take(word.word) || (!word.second.empty() && !take(word.second)))
                continue;
            if (of_owner && !word.of_owner)
                refuse(begin, "an owner is told by kind, device, module, stack or file");
            if (negated && (!word.of_owner || of_owner))
                refuse(begin, "not stands before kind, device, module, stack or file of a rule");
            return read_argument(word, negated);
        }
        refuse(after_not, fmt::format("write a condition: {}", kConditionsWanted));
    }

    Condition read_argument(const ConditionWord& word, bool negated)
    {
        Condition condition{.kind = word.kind, .negated = negated};
        const std::size_t begin = skip_space();
        switch (word.argument) {
        case Argument::none:
            break;
        case Argument::steps:
            condition.number = take_number("how many steps come first, such as after first 3 of "
                                           "\"step*\"");
            if (!take("of"))
                refuse(skip_space(), "write of, and the name of the steps");
            [[fallthrough]];
        case Argument::glob:
            condition.text = take_text("a pattern, such as \"step*\"");
            break;
        case Argument::name:
            condition.text = take_text("an owner's name in quotes");
            if (condition.text != kOtherOwner &&
                std::ranges::none_of(rules_.owners, [&](const Owner& owner) {
                    return owner.name == condition.text;
                }))
                refuse(begin, "there is no owner of this name on the lines before");
            break;
        case Argument::expression:
            condition.expression = take_expression();
            break;
        case Argument::kind:
            condition.memory = take_kind();
            break;
        case Argument::device:
            condition.number = take_number("a device's number");
            break;
        }
        return condition;
    }

    // An expression is searched for in polynomial time, without recursion: a name may have
    // thousands of characters.
    std::shared_ptr<const std::regex> take_expression()
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
            return std::make_shared<const std::regex>(text, std::regex::ECMAScript |
                                                                std::regex::nosubs |
                                                                std::regex_constants::__polynomial);
        } catch (const std::regex_error&) {
            refuse(begin, "this is no regular expression of ECMAScript without back references");
        }
    }

    format::Memory take_kind()
    {
        const std::size_t begin = skip_space();
        const std::string_view word = take_word();
        for (const format::MemoryKind& kind : format::kMemoryKinds)
            if (kind.memory != format::Memory::none && kind.name == word)
                return kind.memory;
        refuse(begin, "write a kind of memory: device, pinned, managed, async, suballocated or "
                      "another that reports name");
    }

    std::uint64_t take_number(const char* wanted)
    {
        const std::size_t begin = skip_space();
        const auto number = whole(take_word());
        if (!number || *number > UINT32_MAX)
            refuse(begin, fmt::format("write {}", wanted));
        return *number;
    }

    static std::optional<std::uint64_t> whole(std::string_view word)
    {
        std::uint64_t number = 0;
        const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (word.empty() || problem != std::errc() || end != word.data() + word.size())
            return std::nullopt;
        return number;
    }

    // In quotes, or a word without a space.
    std::string take_text(const char* wanted)
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

    std::string_view take_word()
    {
        skip_space();
        const std::size_t begin = at_;
        while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t')
            ++at_;
        return line_.substr(begin, at_ - begin);
    }

    bool take(std::string_view word)
    {
        const std::size_t begin = at_;
        if (take_word() == word)
            return true;
        at_ = begin;
        return false;
    }

    std::size_t skip_space()
    {
        while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t'))
            ++at_;
        return at_;
    }

    bool at_end() const { return at_ == line_.size() || line_[at_] == '#'; }

    [[noreturn]] void refuse(std::size_t column, std::string_view what) const
    {
        throw Error(Exit::usage, fmt::format("{}:{}: {}", place_, column + 1, what));
    }

    Rules& rules_;
    const std::string_view line_;
    const std::string place_;
    std::size_t at_ = 0;
};

void add_file(Rules& rules, const std::filesystem::path& path)
{
    const std::string text = read_input_text(path, "the rules", kMostBytesOfRules);
    std::string_view rest = text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        RuleLine(rules, line, fmt::format("{}:{}", path.string(), number)).read();
    }
}

} // namespace

void add_rules_file(Rules& rules, const std::filesystem::path& path)
{
    add_file(rules, path);
    if (rules.rules.empty())
        throw Error(Exit::usage, fmt::format("{}: there is no rule in it", path.string()));
}

void add_owners_file(Rules& rules, const std::filesystem::path& path)
{
    add_file(rules, path);
    rules.rules.clear();
    if (rules.owners.empty())
        throw Error(Exit::usage, fmt::format("{}: there is no owner in it", path.string()));
}

void add_forbidden(Rules& rules, std::string_view text)
{
    std::string name = "forbid";
    for (std::size_t number = 2;
         std::ranges::any_of(rules.rules, [&](const Rule& rule) { return rule.name == name; });
         ++number)
        name = fmt::format("forbid-{}", number);
    RuleLine(rules, text, "--forbid:1").read_forbid(std::move(name));
}

} // namespace vramscope::report
