// report/text/churn.cpp — a headline, a few lines of cost, two histograms, the places.
#include <algorithm>

#include <fmt/format.h>

#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostDriverRows = 8;
constexpr std::size_t kShownPlaces = 10;
constexpr std::size_t kBarColumns = 35;
constexpr std::size_t kLeastPairs = 4; // fewer are not worth a step

std::string percent_of(std::uint64_t part, std::uint64_t whole)
{
    if (whole == 0)
        return "0 %";
    const double value = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    return value > 0 && value < 0.1 ? "< 0.1 %"
                                    : fmt::format("{:.{}f} %", value, value < 10 ? 1 : 0);
}

// ", 12,000 a second"; a run of less than 10 ms says nothing of a second.
std::string per_second(std::uint64_t count, std::uint64_t ns)
{
    if (ns < 10'000'000)
        return "";
    const double rate = static_cast<double>(count) * 1e9 / static_cast<double>(ns);
    return fmt::format(", {} a second", rate < 10 ? fmt::format("{:.1f}", rate)
                                                  : grouped(static_cast<std::uint64_t>(rate)));
}

std::uint64_t without_driver(const Process& process)
{
    std::uint64_t served = 0;
    std::uint64_t asked = 0;
    for (const PoolDevice& device : process.pool.devices) {
        served += device.stats.allocation.all.allocated;
        asked += device.stats.num_device_alloc;
    }
    return served - std::min(served, asked);
}

std::string bar(std::uint64_t value, std::uint64_t most)
{
    if (value == 0 || most == 0)
        return {};
    const auto cells = static_cast<std::size_t>(static_cast<double>(value) /
                                                static_cast<double>(most) * kBarColumns);
    return std::string(std::clamp<std::size_t>(cells, 1, kBarColumns), '#');
}

void headline(TextOutput& out, const Process& process, const std::string& name)
{
    const ChurnReport& churn = process.churn;
    out.stream() << out.painted("CHURN", "1") << (name.empty() ? "" : " of " + name) << ": "
                 << counted(churn.allocations, "allocation") << " and "
                 << counted(churn.frees, "free") << " in " << human_time(process.duration_ns)
                 << per_second(churn.allocations + churn.frees, process.duration_ns) << '\n';
}

void costs(TextOutput& out, const Process& process)
{
    const ChurnReport& churn = process.churn;
    const std::uint64_t hits = without_driver(process);
    out.field("Allocated",
              fmt::format("{} in all, {} a block on average", human_bytes(churn.allocated_bytes),
                          human_bytes(churn.allocated_bytes / churn.allocations)));
    out.field("Pool", process.pool.known
                          ? fmt::format("{} of {} ({}) were served without the driver",
                                        grouped(hits), counted(churn.allocations, "allocation"),
                                        percent_of(hits, churn.allocations))
                          : "none: each call went to the driver");
    out.field("Temporary",
              fmt::format("{} ({}) were freed before anything else was allocated or freed",
                          grouped(churn.temporary),
                          percent_of(churn.temporary, churn.allocations)));
    out.field("Short-lived",
              fmt::format("{} ({}) lived for less than {}", grouped(churn.short_lived),
                          percent_of(churn.short_lived, churn.allocations),
                          human_time(kShortLifeNs)));
    std::string redundant =
        fmt::format("{} ({}) got a size that the same place had freed before",
                    grouped(churn.redundant), percent_of(churn.redundant, churn.allocations));
    if (churn.redundant_driver > 0)
        redundant +=
            fmt::format("; {} of them went to the driver{}", grouped(churn.redundant_driver),
                        churn.redundant_ns > 0
                            ? ", about " + human_time(churn.redundant_ns) + " with their frees"
                            : "");
    out.field("Redundant", redundant);
}

void driver(TextOutput& out, const Process& process)
{
    const ChurnReport& churn = process.churn;
    if (churn.driver_calls == 0)
        return out.field("In driver", "not recorded");
    out.field("In driver", fmt::format("{} in {}, {} of the run", human_time(churn.driver_ns),
                                       counted(churn.driver_calls, "call"),
                                       percent_of(churn.driver_ns, process.duration_ns)));
    const std::size_t shown = std::min(kMostDriverRows, churn.driver.size());
    for (std::size_t at = 0; at < shown; ++at) {
        const DriverCalls& row = churn.driver[at];
        const std::string name =
            row.entry_point.empty() ? "(not named)" : terminal_safe(row.entry_point);
        out.field("", fmt::format("{:<24} {:>12} {:>10}  {:>9} a call, {} the longest", name,
                                  counted(row.calls, "call"), human_time(row.total_ns),
                                  human_time(row.calls ? row.total_ns / row.calls : 0),
                                  human_time(row.longest_ns)));
    }
    if (shown < churn.driver.size())
        out.field("", fmt::format("... and {}",
                                  counted(churn.driver.size() - shown, "more entry point")));
}

void histograms(TextOutput& out, const ChurnReport& churn)
{
    std::uint64_t most = 0;
    for (const SizeBin& bin : churn.sizes)
        most = std::max(most, bin.blocks);
    out.stream() << "\n  Sizes                  blocks       bytes\n";
    for (const SizeBin& bin : churn.sizes)
        if (bin.blocks > 0)
            out.stream() << fmt::format("  {:>10} or more {:>10}  {:>10}  {}\n",
                                        human_bytes(bin.from_bytes), grouped(bin.blocks),
                                        human_bytes(bin.bytes), bar(bin.blocks, most));
    most = 0;
    for (const LifetimeBin& bin : churn.lifetimes)
        most = std::max(most, bin.blocks);
    if (most == 0)
        return;
    out.stream() << "\n  Lifetimes              blocks, of those that were freed\n";
    std::uint64_t above = 0;
    for (const LifetimeBin& bin : churn.lifetimes) {
        const std::string range = bin.below_ns == 0 ? human_time(above) + " or more"
                                                    : "below " + human_time(bin.below_ns);
        above = bin.below_ns;
        if (bin.blocks > 0)
            out.stream() << fmt::format("  {:>18} {:>10}              {}\n", range,
                                        grouped(bin.blocks), bar(bin.blocks, most));
    }
}

// Their numbers are those among all rows: what is advised names one.
void places(TextOutput& out, const ChurnReport& churn)
{
    const ChosenRows<ChurnSite> chosen = choose(churn.sites, out.style().rows, kShownPlaces);
    for (std::size_t at = 0; at < chosen.shown; ++at) {
        const ChurnSite& site = *chosen.rows[at];
        out.stream() << fmt::format("\n#{}  {} of {}, {} freed  {}\n",
                                    &site - churn.sites.data() + 1,
                                    counted(site.allocations, "allocation"),
                                    out.painted(human_bytes(site.allocated_bytes), "1"),
                                    grouped(site.frees), terminal_safe(site.api));
        out.wrapped("", "    ",
                    fmt::format("{} redundant ({} by the driver), {} temporary, {} short-lived",
                                grouped(site.redundant), grouped(site.redundant_driver),
                                grouped(site.temporary), grouped(site.short_lived)));
        if (site.stack.empty())
            out.stream() << "      (no call stack was recorded)\n";
        out.stack(site);
    }
    if (const std::uint64_t more = chosen.more + churn.more_sites; more > 0)
        out.stream() << '\n'
                     << (chosen.shown > 0 ? "... and " + counted(more, "more place")
                                          : "None of " + counted(more, "place") + " is shown")
                     << '\n';
}

// What else would save the driver's calls for this memory; empty: nothing that is known.
const char* other_advice(const Process& process, format::Memory memory)
{
    if (memory == format::Memory::async)
        return "; or raise the release threshold of the driver's pool";
    const bool of_our_pool = memory == format::Memory::device || memory == format::Memory::pitched;
    return of_our_pool && process.pool.mode == "off" ? "; or run without --pool off" : "";
}

// What to do about it.
void advice(TextOutput& out, const Process& process)
{
    const ChurnReport& churn = process.churn;
    if (churn.redundant_driver >= kLeastPairs && !churn.sites.empty())
        out.wrapped("", "  ",
                    fmt::format("To save {} calls of the driver: allocate once and keep it, first "
                                "at #1{}.",
                                grouped(2 * churn.redundant_driver),
                                other_advice(process, churn.sites.front().memory)));
}

} // namespace

void write_churn_of(TextOutput& out, const Process& process, const std::string& name)
{
    headline(out, process, name);
    if (process.churn.allocations == 0)
        return;
    costs(out, process);
    driver(out, process);
    histograms(out, process.churn);
    places(out, process.churn);
    out.stream() << '\n';
    advice(out, process);
}

} // namespace vramscope::report
