// report/text/suppression_file.cpp — leaks to rules, one for all leaks of one function.
#include "report/text/suppression_file.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/object_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownFrames = 4;

// `$` has a meaning wherever it stands, a line has an end, and a terminal obeys some characters. A
// `*` matches itself.
std::string exactly(std::string_view name)
{
    const bool safe = terminal_safe(name) == name;
    std::string pattern = "^";
    for (const char letter : name) {
        const bool plain = letter != '$' && (safe || (letter >= ' ' && letter <= '~'));
        if (plain || pattern.back() != '*')
            pattern += plain ? letter : '*';
    }
    return pattern + "$";
}

// The frame that the rule for a leak names: the innermost function of the program's own.
std::vector<Frame>::const_iterator named_frame(const Leak& leak)
{
    const auto named = [](const Frame& frame) { return !frame.function.empty(); };
    const auto own = std::find_if(leak.stack.begin(), leak.stack.end(), [&](const Frame& frame) {
        return named(frame) && !frame.library;
    });
    return own != leak.stack.end() ? own
                                   : std::find_if(leak.stack.begin(), leak.stack.end(), named);
}

struct WrittenRule {
    std::string pattern;
    std::vector<const Leak*> leaks;

    std::size_t callers() const // how many functions call the one that is named
    {
        std::set<std::string_view> callers;
        for (const Leak* const leak : leaks) {
            const auto frame = named_frame(*leak);
            if (frame != leak->stack.end() && std::next(frame) != leak->stack.end())
                callers.insert(std::next(frame)->function);
        }
        return callers.size();
    }
};

// In the order of the largest leak of each.
std::vector<WrittenRule> rules_for(const Report& report)
{
    std::vector<WrittenRule> rules;
    std::map<std::string, std::size_t> known;
    const auto add = [&](const Leak& leak) {
        const std::string pattern = suppression_pattern(leak);
        const auto [at, added] = known.try_emplace(pattern, rules.size());
        if (added)
            rules.push_back({pattern, {}});
        rules[at->second].leaks.push_back(&leak);
    };
    for (const std::vector<Leak>* const rows : {&report.leaks, &report.imports})
        std::for_each(rows->begin(), rows->end(), add);
    for (const ObjectRow& row : report.objects)
        if (row.piles_up())
            add(row);
    return rules;
}

// What a reader must know before hiding it.
std::string growth_of(const Leak& leak)
{
    switch (leak.leak_class) {
    case LeakClass::growing:
        return ", " + class_words(leak);
    case LeakClass::start_up:
    case LeakClass::cache:
        return "";
    default:
        return leak.pattern == Pattern::repeated ? ", repeated: it may grow with the run" : "";
    }
}

void comment(std::ostream& out, const Leak& leak)
{
    const std::string what = format::is_object(leak.memory)
                                 ? counted(leak.blocks, object_noun(leak.memory))
                                 : size_in_blocks(leak.bytes, leak.blocks);
    out << fmt::format("# {}, {}, {}{}\n", what, terminal_safe(leak.api), name(leak.kind),
                       growth_of(leak));
    const std::size_t shown = std::min(kShownFrames, leak.stack.size());
    for (std::size_t at = 0; at < shown; ++at)
        out << fmt::format("#   {}  {}\n", function_of(leak.stack[at]), place_of(leak.stack[at]));
    if (shown < leak.stack.size())
        out << "#   ...\n";
}

} // namespace

std::string suppression_pattern(const Leak& leak)
{
    const auto chosen = named_frame(leak);
    if (chosen != leak.stack.end())
        return exactly(chosen->function);
    const auto module = std::find_if(leak.stack.begin(), leak.stack.end(),
                                     [](const Frame& frame) { return !frame.module.empty(); });
    return module == leak.stack.end() ? "" : exactly(module->module);
}

void write_suppression_file(std::ostream& out, const Report& report)
{
    const std::vector<WrittenRule> rules = rules_for(report);
    if (rules.empty()) {
        out << "# nothing to suppress: nothing leaked"
            << (report.suppressed.empty() ? "\n" : " that is not suppressed already\n");
        return;
    }
    out << "# Known leaks, for --suppressions. A rule hides every leak through its function: keep "
           "what you know,\n# and delete the rest.\n";
    for (const WrittenRule& rule : rules) {
        out << '\n';
        for (const Leak* const leak : rule.leaks)
            comment(out, *leak);
        if (rule.pattern.empty()) {
            out << "# no rule: no call stack was recorded\n";
            continue;
        }
        if (rule.pattern == "^main$")
            out << "# careful: every leak of the program is under main\n";
        else if (const std::size_t callers = rule.callers(); callers > 1)
            out << "# careful: this hides what any of " << callers
                << " callers leaks; name one of them instead to hide its leaks alone\n";
        out << "leak:" << rule.pattern << '\n';
    }
}

} // namespace vramscope::report
