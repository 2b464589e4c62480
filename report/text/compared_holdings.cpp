// report/text/compared_holdings.cpp — what holds leaks, objects, contexts and owners, in two runs.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/model/comparison.hpp"
#include "report/text/sections.hpp"
#include "report/words/object_words.hpp"
#include "report/words/reach_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostHoldings = 20; // of each list

void write_more(TextOutput& out, std::size_t all)
{
    if (all > kMostHoldings)
        out.stream() << "  ... and " << counted(all - kMostHoldings, "more call stack") << '\n';
}

std::string side_words(const ReachSide& side)
{
    const bool any = side.lost.blocks > 0;
    return fmt::format("{} {}, {}", in_blocks(any ? side.lost : side.held), any ? "lost" : "held",
                       terminal_safe(side.how));
}

void write_compared_reach(TextOutput& out, const Comparison& comparison)
{
    if (comparison.reach.empty())
        return;
    out.stream() << '\n' << out.painted("Lost or held", "1") << '\n';
    for (std::size_t at = 0; at < std::min(kMostHoldings, comparison.reach.size()); ++at) {
        const ComparedReach& row = comparison.reach[at];
        out.line(fmt::format("  {:<13}{}  ", name(row.change), terminal_safe(row.place->api)),
                 *row.place);
        out.wrapped("      ", "base: ", side_words(row.base));
        out.wrapped("      ", "new:  ", side_words(row.now));
    }
    write_more(out, comparison.reach.size());
}

std::string count_change(std::uint64_t base, std::uint64_t now)
{
    return fmt::format("{} -> {}", grouped(base), grouped(now));
}

void write_compared_objects(TextOutput& out, const Comparison& comparison)
{
    if (comparison.objects.empty() && comparison.not_compared.empty())
        return;
    out.stream() << '\n' << out.painted("Objects and contexts", "1") << '\n';
    for (std::size_t at = 0; at < std::min(kMostHoldings, comparison.objects.size()); ++at) {
        const ComparedObject& row = comparison.objects[at];
        const std::string what = object_noun(row.object) +
                                 (row.device < 0 ? "" : fmt::format(", device {}", row.device));
        out.line(fmt::format("  {:<7}{:<18}{:>14} made{:>14} left  {}  ", name(row.change), what,
                             count_change(row.base_made, row.new_made),
                             count_change(row.base_alive, row.new_alive),
                             terminal_safe(row.place->api)),
                 *row.place);
    }
    write_more(out, comparison.objects.size());
    for (const std::string& line : comparison.not_compared)
        out.wrapped("", "  Not compared: ", line);
}

void write_compared_owners(TextOutput& out, const Comparison& comparison)
{
    std::size_t widest = 0;
    for (const ComparedOwner& row : comparison.owners)
        widest = std::max(widest, columns(terminal_safe(row.owner)));
    const ComparedOwner* before = nullptr;
    const auto bytes = [](std::uint64_t base, std::uint64_t now) {
        return human_bytes(base) + " -> " + human_bytes(now);
    };
    for (const ComparedOwner& row : comparison.owners) {
        if (!before || before->device != row.device)
            out.stream() << '\n'
                         << out.painted("Memory by owner, " +
                                            (row.device < 0 ? std::string("host")
                                                            : fmt::format("device {}", row.device)),
                                        "1")
                         << '\n';
        before = &row;
        const std::string owner = terminal_safe(row.owner);
        const std::string peak =
            row.device < 0 ? "-" : bytes(row.base.at_peak_bytes, row.now.at_peak_bytes);
        out.stream() << "  " << owner << std::string(widest - columns(owner), ' ')
                     << fmt::format("  {:>24} at the peak  {:>24} at the end\n", peak,
                                    bytes(row.base.live_bytes, row.now.live_bytes));
    }
}

} // namespace

void write_compared_holdings(TextOutput& out, const Comparison& comparison)
{
    write_compared_reach(out, comparison);
    write_compared_objects(out, comparison);
    write_compared_owners(out, comparison);
}

} // namespace vramscope::report
