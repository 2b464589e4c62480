// report/text/suppressions.cpp — a table of rules, as LeakSanitizer has one.
#include <algorithm>

#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

std::string suppressed(const Report& report)
{
    const Totals& totals = report.totals;
    if (totals.suppressed_blocks == 0)
        return {};
    const auto used = std::count_if(report.suppressions.begin(), report.suppressions.end(),
                                    [](const RuleUse& use) { return use.rows > 0; });
    return fmt::format("{} in {}, by {}", human_bytes(totals.suppressed_bytes),
                       counted(totals.suppressed_blocks, "block"),
                       counted(static_cast<std::uint64_t>(used), "rule"));
}

std::string rule_in_words(const SuppressionRule& rule)
{
    return terminal_safe(fmt::format(
        "{} ({})", rule.text(),
        rule.built_in() ? "built in: " + rule.why : fmt::format("{}:{}", rule.source, rule.line)));
}

void write_suppressions(TextOutput& out, const Report& report)
{
    if (report.suppressions.empty())
        return;
    out.stream() << '\n' << out.painted("Suppressed", "1") << '\n';
    bool built_in = false;
    for (const RuleUse& use : report.suppressions) {
        if (use.rows == 0)
            continue;
        built_in = built_in || use.rule.built_in();
        out.wrapped("",
                    fmt::format("  {:>10} in {:<11}  ", human_bytes(use.bytes),
                                counted(use.blocks, "block")),
                    rule_in_words(use.rule));
    }
    for (const RuleUse& use : report.suppressions) {
        if (use.rows == 0)
            out.wrapped("", "  not used: ", rule_in_words(use.rule));
    }
    if (built_in)
        out.stream() << "  (--no-builtin-suppressions lists these as leaks)\n";
}

} // namespace vramscope::report
