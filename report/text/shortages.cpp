// report/text/shortages.cpp — the verdict first, then the numbers, call and owners.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/mempool_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownShortages = 4;
constexpr std::size_t kShownOwners = 5;

std::uint64_t failures(const Report& report)
{
    std::uint64_t sum = 0;
    for (const Process& process : report.processes)
        sum += process.shortage_count;
    return sum;
}

void pieces(TextOutput& out, const Shortage& shortage)
{
    if (!shortage.pooled || !shortage.owners_known || shortage.map.empty())
        return;
    const Waterfall& parts = shortage.parts;
    if (!shortage.of_allocator)
        out.wrapped("", "    ",
                    fmt::format("beside what was allocated: {} in whole free segments, {} stuck "
                                "beside blocks, {} freed and not safe to reuse yet",
                                human_bytes(parts.releasable), human_bytes(parts.stuck),
                                human_bytes(parts.pending)));
    // The index says little of few pieces: it is for those that were enough together.
    const std::string index = shortage.kind == ShortageKind::fragmented
                                  ? fmt::format("; fragmentation index {:.2f} of 1",
                                                std::max(0.0, shortage.fragmentation))
                                  : "";
    if (shortage.free_pieces > 0 && shortage.requested > 0)
        out.wrapped("", "    ",
                    fmt::format("{}, {} of their bytes of no use for {}{}",
                                counted(shortage.free_pieces, "free piece"),
                                percent(shortage.unusable), human_bytes(shortage.requested),
                                index));
    out.stream() << "    then [" << shortage.map << "]\n";
}

void mempools(TextOutput& out, const Shortage& shortage)
{
    for (const Mempool& pool : shortage.mempools)
        if (pool.kept() > 0)
            out.wrapped("", "    ", fmt::format("{}; {}", kept_by(pool), kMempoolRemedy));
}

std::string numbers(const Shortage& shortage)
{
    std::string text;
    if (shortage.free_known())
        text = human_bytes(shortage.free) + " free" +
               (shortage.total > 0 ? " of " + human_bytes(shortage.total) : "") + "; ";
    if (shortage.owners_known)
        text += fmt::format("the program's blocks held {}; ", human_bytes(shortage.held));
    text += shortage.pooled
                ? fmt::format("{}: {} allocated, {} reserved, largest gap {}",
                              shortage.of_allocator ? terminal_safe(shortage.entry_point) : "pool",
                              human_bytes(shortage.allocated), human_bytes(shortage.reserved),
                              human_bytes(shortage.largest_gap))
                : "no pool of vramscope's";
    if (shortage.retries > 0)
        text +=
            fmt::format("; {} by then",
                        shortage.retries == 1 ? "1 retry" : grouped(shortage.retries) + " retries");
    return text;
}

void owners(TextOutput& out, const Shortage& shortage)
{
    if (!shortage.owners_known) {
        out.stream() << "    who held the memory was not looked at: there were too many failures\n";
        return;
    }
    if (shortage.owners.empty())
        return;
    out.stream() << "    held then by\n";
    const std::size_t shown = std::min(kShownOwners, shortage.owners.size());
    for (std::size_t at = 0; at < shown; ++at)
        write_held_by(out, "      ", shortage.owners[at]);
    if (shown < shortage.owners.size())
        out.stream() << "      ... and others; --json has more\n";
}

// "64 MiB", "at least 64 MiB".
std::string asked_for(const Shortage& shortage)
{
    return (shortage.at_least ? "at least " : "") + human_bytes(shortage.requested);
}

std::string called(const Shortage& shortage)
{
    return fmt::format("{}{}{}",
                       shortage.api.empty() ? "an allocation" : terminal_safe(shortage.api),
                       shortage.requested == 0 ? "" : " of " + asked_for(shortage),
                       shortage.device < 0 ? "" : fmt::format(" on device {}", shortage.device));
}

std::string why_unknown(const Shortage& shortage)
{
    if (!shortage.free_known())
        return "out of memory: how much was free is not known";
    if (shortage.requested == 0)
        return "out of memory: how much was asked for is not known";
    return fmt::format("out of memory: {} free, {} needed; how much it is with the driver's "
                       "padding is not known",
                       human_bytes(shortage.free_in_all()), asked_for(shortage));
}

// The largest request, which the headline is about, and then the others as they came.
std::vector<const Shortage*> largest_first(const Report& report)
{
    std::vector<const Shortage*> rows;
    for (const Shortage& row : report.shortages)
        rows.push_back(&row);
    const auto largest =
        std::max_element(rows.begin(), rows.end(), [](const Shortage* a, const Shortage* b) {
            return a->requested < b->requested;
        });
    std::rotate(rows.begin(), largest, largest + 1);
    return rows;
}

void one_shortage(TextOutput& out, const Report& report, const Shortage& shortage)
{
    const std::string process =
        report.processes.size() > 1 ? ", " + process_name(report, shortage.process) : "";
    out.stream() << '\n';
    out.wrapped("", "",
                fmt::format("{}  {}, at {}{}", out.painted(describe(shortage), "1"),
                            called(shortage), human_time(shortage.at_ns), process));
    out.wrapped("", "    ", numbers(shortage));
    mempools(out, shortage);
    pieces(out, shortage);
    if (shortage.apart && shortage.kind == ShortageKind::fragmented)
        out.line(fmt::format("    held apart by {}  ", counted(shortage.apart->blocks, "block")),
                 *shortage.apart);
    if (!shortage.remedy.empty())
        out.wrapped("", "    ", fmt::format("it would have fitted with {}", shortage.remedy));
    out.stack(shortage);
    owners(out, shortage);
}

} // namespace

std::string describe(const Shortage& shortage)
{
    switch (shortage.kind) {
    case ShortageKind::lacking:
        return fmt::format("short by {}{}", shortage.at_least ? "at least " : "",
                           human_bytes(shortage.short_by));
    case ShortageKind::fragmented:
        return fmt::format("fragmented: {} free, largest gap {}, {} needed",
                           human_bytes(shortage.free_in_all()),
                           human_bytes(std::max(shortage.largest_gap, shortage.free)),
                           human_bytes(shortage.requested));
    case ShortageKind::cached:
        return fmt::format("would fit the cache: a gap of {} was there, not safe to reuse yet",
                           human_bytes(shortage.largest_gap));
    case ShortageKind::refused:
        return refused_though_free(shortage);
    case ShortageKind::limited:
        return above_its_maximum(shortage);
    case ShortageKind::impossible:
        return "impossible: " + impossible_size(shortage.requested);
    case ShortageKind::unknown:
        break;
    }
    return why_unknown(shortage);
}

void write_shortages(TextOutput& out, const Report& report)
{
    if (report.shortages.empty())
        return;
    const std::uint64_t all = failures(report);
    out.stream() << '\n'
                 << out.painted("Out of memory", "1") << ": " << counted(all, "allocation")
                 << " failed for want of memory\n";
    const std::vector<const Shortage*> rows = largest_first(report);
    const std::size_t shown = std::min(kShownShortages, rows.size());
    for (std::size_t at = 0; at < shown; ++at)
        one_shortage(out, report, *rows[at]);
    if (shown < all)
        out.stream() << fmt::format(
            "\n... and {}; --json has {}\n", counted(all - shown, "more failure"),
            report.shortages.size() < all ? "the first 8 and the last 8 of each process" : "all");
}

} // namespace vramscope::report
