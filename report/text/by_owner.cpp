// report/text/by_owner.cpp — a line for each owner of a device's memory.
#include <algorithm>

#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// "Memory by owner, device 0"
std::string owners_heading(const Report& report, const OwnerSums& row)
{
    std::string text = "Memory by owner, ";
    text += row.device < 0 ? "host" : fmt::format("device {}", row.device);
    return report.processes.size() > 1 ? text + ", " + process_name(report, row.process) : text;
}

bool same_place(const OwnerSums& a, const OwnerSums& b)
{
    return a.device == b.device && a.process == b.process;
}

} // namespace

void write_by_owner(TextOutput& out, const Report& report)
{
    std::size_t widest = 0;
    for (const OwnerSums& row : report.by_owner)
        widest = std::max(widest, columns(terminal_safe(row.owner)));
    const OwnerSums* before = nullptr;
    for (const OwnerSums& row : report.by_owner) {
        if (!before || !same_place(*before, row))
            out.stream() << '\n' << out.painted(owners_heading(report, row), "1") << '\n';
        before = &row;
        const std::string name = terminal_safe(row.owner);
        out.stream() << "  " << name << std::string(widest - columns(name), ' ')
                     << fmt::format("  {:>10} at the peak, {:>10} at the end, {:>10} in {}\n",
                                    row.device < 0 ? "-" : human_bytes(row.at_peak_bytes),
                                    human_bytes(row.live_bytes), human_bytes(row.allocated_bytes),
                                    counted(row.allocations, "allocation"));
    }
}

} // namespace vramscope::report
