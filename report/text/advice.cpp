// report/text/advice.cpp — the largest saving first.
#include <algorithm>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownAdvice = 8;

std::string reason(const Advice& advice)
{
    const std::string blocks = counted(advice.blocks, "block");
    switch (advice.kind) {
    case AdviceKind::never_freed:
        return fmt::format("never freed: {}, alive at the peak and to the end", blocks);
    case AdviceKind::released_late:
        return fmt::format("released late, if nothing used it later: {}, of range {} that was over "
                           "before the peak",
                           blocks, terminal_safe(advice.phase));
    case AdviceKind::allocated_early:
        return fmt::format("allocated early, if nothing used it before: {}, kept for range {} that "
                           "began after the peak",
                           blocks, terminal_safe(advice.other_phase));
    case AdviceKind::grow_by_copy:
        return "grown by copy: the old block lived beside the new one; free it first, or take the "
               "whole size at once";
    case AdviceKind::redundant_pairs:
        break;
    }
    return fmt::format("freed and allocated again {} times, always {}: could be kept",
                       grouped(advice.blocks), human_bytes(advice.bytes));
}

void write_line(TextOutput& out, const Advice& advice)
{
    const std::string head = fmt::format(
        "  {:>10}  ", advice.saving > 0 ? human_bytes(advice.saving) : std::string("calls"));
    out.wrapped("", head,
                fmt::format("{}; {} {}", reason(advice), terminal_safe(advice.api),
                            innermost_in(advice, out.room_behind(30))));
}

} // namespace

void write_advice(TextOutput& out, const Report& report)
{
    std::size_t devices = 0;
    for (const Process& process : report.processes)
        devices += process.memory.size();
    for (const Process& process : report.processes) {
        for (const MemoryReport& device : process.memory) {
            if (device.advice.empty())
                continue;
            const std::string of = devices > 1
                                       ? fmt::format(" for {}, {}", device_name(device.device),
                                                     process_name(report, process))
                                       : "";
            out.stream() << '\n';
            out.wrapped(
                "", "",
                fmt::format(
                    "{}{}: by the times of allocations and frees, and the bytes of the peak "
                    "that each could save at most; what uses memory is not seen",
                    out.painted("Advice", "1"), of));
            const std::size_t shown = std::min(kShownAdvice, device.advice.size());
            for (std::size_t at = 0; at < shown; ++at)
                write_line(out, device.advice[at]);
            if (shown < device.advice.size())
                out.stream() << "  ... and " << device.advice.size() - shown
                             << " more; --json has them\n";
        }
    }
}

} // namespace vramscope::report
