// report/rules/read_rules.cpp — the grammar: owners, rules and their conditions, a line each.
#include "report/rules/read_rules.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/input_text.hpp"
#include "report/rules/rule_text.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostBytesOfRules = 64 * 1024;

struct EventWord {
    std::string_view word;
    RuleEvent event;
};
constexpr EventWord kEvents[] = {
    {"alloc", RuleEvent::alloc},     {"driver-alloc", RuleEvent::driver_alloc},
    {"free", RuleEvent::free},       {"context", RuleEvent::context},
    {"graph", RuleEvent::graph},     {"stream", RuleEvent::stream},
    {"event", RuleEvent::event},     {"module", RuleEvent::module},
    {"library", RuleEvent::library}, {"misuse", RuleEvent::misuse}};
constexpr const char* kEventsWanted =
    "alloc, driver-alloc, free, context, graph, stream, event, module, library or misuse";

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

class RuleReader {
public:
    RuleReader(Rules& rules, std::string_view line, std::string place)
        : rules_(rules), text_(line, std::move(place))
    {
    }

    void read()
    {
        if (text_.at_end())
            return;
        if (text_.take("owner"))
            return read_owner();
        const std::size_t begin = text_.skip_space();
        Rule rule;
        rule.name = text_.take_name();
        if (std::ranges::find(rules_.rules, rule.name, &Rule::name) != rules_.rules.end())
            text_.refuse(begin, "another rule has this name");
        if (text_.take("forbid"))
            read_forbidden(rule);
        else if (text_.take("limit"))
            read_limit(rule);
        else
            text_.refuse(text_.skip_space(), "write forbid or limit");
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
            text_.refuse(0, fmt::format("there are more than {} rules", kMostRules));
        rules_.rules.push_back(std::move(rule));
    }

    void read_forbidden(Rule& rule)
    {
        const std::size_t begin = text_.skip_space();
        const std::string_view word = text_.take_word();
        for (const EventWord& one : kEvents)
            if (one.word == word)
                rule.forbidden = one.event;
        if (!rule.forbidden)
            text_.refuse(begin, fmt::format("write what is forbidden: {}", kEventsWanted));
    }

    void read_limit(Rule& rule)
    {
        if (text_.take("count-live"))
            rule.quantity = RuleQuantity::count_live;
        else if (text_.take("live"))
            rule.quantity = RuleQuantity::live;
        else if (!text_.take("peak"))
            text_.refuse(text_.skip_space(), "write what is limited: peak, live or count-live");
        const std::size_t begin = text_.skip_space();
        const std::string_view word = text_.take_word();
        const auto number = rule.quantity == RuleQuantity::count_live ? RuleText::whole(word)
                                                                      : format::read_size(word);
        if (!number || *number > std::uint64_t{1} << 60)
            text_.refuse(begin, rule.quantity == RuleQuantity::count_live
                                    ? "write how many may live at once, such as 16"
                                    : "write bytes up to 1024PiB: 0, 4096, 64MiB or 1.5GiB");
        rule.limit = *number;
        if (!text_.take("of"))
            return;
        const std::size_t of = text_.skip_space();
        const std::string_view counted = text_.take_word();
        for (const CountedWord& one : kCounted)
            if (one.word == counted)
                rule.counted = one.memory;
        if (!rule.counted || rule.quantity != RuleQuantity::count_live)
            text_.refuse(
                of, "write count-live NUMBER of context, graph, pool, stream, event, module or "
                    "library");
    }

    void read_conditions(Rule& rule)
    {
        while (!text_.at_end()) {
            const std::size_t begin = text_.skip_space();
            add_condition(rule.all_of, false);
            refuse_what_never_applies(rule, begin);
        }
    }

    // What is made is of one kind, and is on one device. `begin`: of the last condition.
    void refuse_what_never_applies(const Rule& rule, std::size_t begin) const
    {
        const Condition& last = rule.all_of.back();
        if (last.kind != ConditionKind::memory && last.kind != ConditionKind::device)
            return;
        for (const Condition& one : std::span(rule.all_of).first(rule.all_of.size() - 1)) {
            const bool same = one.memory == last.memory && one.number == last.number;
            const bool excludes = one.negated != last.negated ? same : !same && !last.negated;
            if (one.kind == last.kind && excludes)
                text_.refuse(begin, "the rule never applies: no memory meets this and the "
                                    "condition of the same word before it");
        }
        const std::optional<format::Memory> made = made_by(rule);
        if (made && last.kind == ConditionKind::memory && (last.memory == *made) == last.negated)
            text_.refuse(begin, fmt::format("the rule never applies: what it speaks of is of kind "
                                            "{}",
                                            format::name(*made)));
    }

    // Of a rule about objects of the driver's.
    static std::optional<format::Memory> made_by(const Rule& rule)
    {
        if (!rule.forbidden)
            return rule.counted;
        const auto event = std::ranges::find(kEvents, *rule.forbidden, &EventWord::event);
        const auto object = std::ranges::find(kCounted, event->word, &CountedWord::word);
        return object == std::end(kCounted) ? std::nullopt : std::optional(object->memory);
    }

    void read_owner()
    {
        Owner owner;
        const std::size_t begin = text_.skip_space();
        owner.name = text_.take_text("the owner's name in quotes, such as \"KV cache\"");
        if (owner.name == kOtherOwner || owner.name.size() > kMostRuleName)
            text_.refuse(
                begin, "an owner's name has at most 64 bytes, and \"other\" is what no owner has");
        do
            add_condition(owner.any_of, true);
        while (text_.take("or"));
        if (!text_.at_end())
            text_.refuse(text_.skip_space(), "write or before another condition");
        if (rules_.owners.size() == kMostRules)
            text_.refuse(0, fmt::format("there are more than {} owners", kMostRules));
        rules_.owners.push_back(std::move(owner));
    }

    void add_condition(std::vector<Condition>& to, bool of_owner)
    {
        if (to.size() == kMostConditions)
            text_.refuse(text_.skip_space(),
                         fmt::format("there are more than {} conditions", kMostConditions));
        to.push_back(read_condition(of_owner));
    }

    Condition read_condition(bool of_owner)
    {
        const std::size_t begin = text_.skip_space();
        const bool negated = text_.take("not");
        const std::size_t after_not = text_.skip_space();
        for (const ConditionWord& word : kConditions) {
            text_.go_back(after_not);
            if (!text_.take(word.word) || (!word.second.empty() && !text_.take(word.second)))
                continue;
            if (of_owner && !word.of_owner)
                text_.refuse(begin, "an owner is told by kind, device, module, stack or file");
            if (negated && (!word.of_owner || of_owner))
                text_.refuse(begin,
                             "not stands before kind, device, module, stack or file of a rule");
            return read_argument(word, negated);
        }
        text_.refuse(after_not, fmt::format("write a condition: {}", kConditionsWanted));
    }

    Condition read_argument(const ConditionWord& word, bool negated)
    {
        Condition condition{.kind = word.kind, .negated = negated};
        const std::size_t begin = text_.skip_space();
        switch (word.argument) {
        case Argument::none:
            break;
        case Argument::steps:
            condition.number =
                text_.take_number("how many steps come first, such as after first 3 of "
                                  "\"step*\"");
            if (!text_.take("of"))
                text_.refuse(text_.skip_space(), "write of, and the name of the steps");
            [[fallthrough]];
        case Argument::glob:
            condition.text = text_.take_text("a pattern, such as \"step*\"");
            break;
        case Argument::name:
            condition.text = text_.take_text("an owner's name in quotes");
            if (condition.text != kOtherOwner &&
                std::ranges::none_of(rules_.owners, [&](const Owner& owner) {
                    return owner.name == condition.text;
                }))
                text_.refuse(begin, "there is no owner of this name on the lines before");
            break;
        case Argument::expression:
            condition.expression = text_.take_expression();
            break;
        case Argument::kind:
            condition.memory = text_.take_kind();
            break;
        case Argument::device:
            condition.number = text_.take_number("a device's number");
            break;
        }
        return condition;
    }

    Rules& rules_;
    RuleText text_;
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
        RuleReader(rules, line, fmt::format("{}:{}", path.string(), number)).read();
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
    constexpr std::string_view kSpace = " \t";
    const std::size_t first = std::min(text.find_first_not_of(kSpace), text.size());
    const std::string_view words =
        text.substr(first, text.find_last_not_of(kSpace) + 1 - first); // npos + 1 is 0: all space
    std::string name = fmt::format("forbid {}", words);
    if (std::ranges::find(rules.rules, name, &Rule::name) == rules.rules.end())
        RuleReader(rules, text, "--forbid:1").read_forbid(std::move(name));
}

} // namespace vramscope::report
