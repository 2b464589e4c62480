// report/text/suppressions.cpp — a table of rules, as LeakSanitizer has one.
#include <algorithm>

#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

// "64 KiB in 1 block and 60 objects".
std::string known_words(std::uint64_t bytes, std::uint64_t blocks, std::uint64_t objects)
{
    std::string words;
    if (blocks > 0 || objects == 0)
        words = fmt::format("{} in {}", human_bytes(bytes), counted(blocks, "block"));
    if (objects > 0)
        words += (words.empty() ? "" : " and ") + counted(objects, "object");
    return words;
}

} // namespace

std::string suppressed(const Report& report)
{
    const Totals& totals = report.totals;
    std::uint64_t objects = 0;
    for (const ObjectRow& row : report.objects)
        objects += row.known && row.leak_class == LeakClass::growing ? row.most_known() : 0;
    if (totals.suppressed_blocks == 0 && objects == 0)
        return {};
    const auto used = std::count_if(report.suppressions.begin(), report.suppressions.end(),
                                    [](const RuleUse& use) { return use.rows > 0; });
    return fmt::format("{}, by {}",
                       known_words(totals.suppressed_bytes, totals.suppressed_blocks, objects),
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
        out.wrapped("", fmt::format("  {:<24}  ", known_words(use.bytes, use.blocks, use.objects)),
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
