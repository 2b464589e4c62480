// report/text/workspaces.cpp — libraries whose workspaces grow, a paragraph each.
#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// "cuBLAS: 96 MiB more in 3 blocks, 32 MiB per step at step() train.cu:9"
std::string workspace_words(const Report& report, const Workspace& row)
{
    std::string where = row.device < 0 ? "" : fmt::format(" on device {}", row.device);
    if (report.processes.size() > 1)
        where += ", " + process_name(report, row.process);
    return fmt::format(
        "{}{}: {} more in {}{}, {} at {}", terminal_safe(row.library), where,
        human_bytes(row.bytes), counted(row.blocks, "block"),
        row.stacks == 1 ? ""
                        : fmt::format(" from {}, the fastest", counted(row.stacks, "call stack")),
        rate_words(row.rate), innermost_in(row, 60));
}

} // namespace

void write_workspaces(TextOutput& out, const Report& report)
{
    if (report.workspaces.empty())
        return;
    out.stream() << '\n' << out.painted("Workspaces that grow", "1") << '\n';
    for (const Workspace& row : report.workspaces)
        out.wrapped("", "  ", workspace_words(report, row));
    out.wrapped("", "    ",
                "A library has a workspace for each of its handles: is a handle made again and "
                "again, and never destroyed?");
}

} // namespace vramscope::report
