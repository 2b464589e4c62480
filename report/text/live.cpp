// report/text/live.cpp — each program's head, and the stacks that hold the most.
#include "report/text/live.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/live_lines.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// At most `most` rows of call stacks, and how many more there are.
void add_stacks(LiveLines& lines, const LiveState& state, std::size_t most)
{
    const std::size_t shown = std::min(most, state.stacks.size());
    std::vector<ShownRow> rows;
    for (const Leak& stack : state.stacks)
        rows.push_back({&stack, stack.device});
    const Report none; // of whose processes there is one
    const RowHeadlines places(rows, none);
    if (!rows.empty())
        lines.line(fmt::format("  {:>10} {:>9}  allocated by", "bytes", "blocks"));
    for (std::size_t at = 0; at < shown; ++at) {
        const Leak& stack = state.stacks[at];
        const std::string sums = fmt::format("  {:>10} {:>9}  {}  ", human_bytes(stack.bytes),
                                             grouped(stack.blocks), terminal_safe(stack.api));
        lines.line(sums + places.in(at, lines.room_behind(sums)));
    }
    const std::size_t more = state.more_stacks + state.stacks.size() - shown;
    if (more > 0)
        lines.line(fmt::format("  ... and {}", counted(more, "more call stack")));
}

} // namespace

std::vector<std::string> live_lines(const std::vector<LiveProgram>& programs,
                                    const LiveStyle& style)
{
    LiveLines lines(style);
    for (const LiveProgram& program : programs) {
        if (lines.size() > 0)
            lines.line("");
        lines.add_head(program);
        add_stacks(lines, program.state, style.stacks);
    }
    return lines.take();
}

} // namespace vramscope::report
