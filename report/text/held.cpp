// report/text/held.cpp — what was in use until the work was over, by line.
#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

void write_held(TextOutput& out, const Report& report)
{
    constexpr std::size_t kShown = 5;
    if (report.held.empty())
        return;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    for (const Leak& row : report.held) {
        bytes += row.bytes;
        blocks += row.blocks;
    }
    out.stream() << '\n';
    out.wrapped("", "",
                fmt::format("{}: {}, which was freed after the last allocation",
                            out.painted("Held to the end of the work", "1"),
                            size_in_blocks(bytes, blocks)));
    const ChosenRows<Leak> chosen = choose(report.held, out.style().rows, kShown);
    for (std::size_t at = 0; at < chosen.shown; ++at)
        write_held_by(out, "  ", *chosen.rows[at]);
    if (chosen.more > 0)
        out.stream() << "  " << chosen.rest() << '\n';
}

} // namespace vramscope::report
