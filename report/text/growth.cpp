// report/text/growth.cpp — classes and rates in words; one line for each place that grows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/rank_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownGrowth = 20;
constexpr std::size_t kShownInSummary = 3;
constexpr const char* kBold = "1";

// `headline`: what tells it from the others, in so many columns.
template <typename Headline>
void growth_line(TextOutput& out, std::string_view prefix, const Growth& growth,
                 std::size_t rate_columns, std::size_t api_columns, Headline headline)
{
    const std::string rate = rate_words(growth.rate);
    const std::string api = terminal_safe(growth.api);
    const std::string line =
        fmt::format("{}  {}{}  {} sure  {}{}  ", prefix,
                    std::string(rate_columns - std::min(columns(rate), rate_columns), ' '), rate,
                    percent_sure(growth.rate), api,
                    std::string(api_columns - std::min(columns(api), api_columns), ' '));
    const std::string tail =
        (growth.stacks == 1 ? "" : ", " + counted(growth.stacks, "call stack")) +
        (growth.freed ? ", freed" : "");
    out.stream() << line << headline(out.room_behind(columns(line) + columns(tail))) << tail
                 << '\n';
}

void growth_lines(TextOutput& out, const Report& report, std::string_view prefix,
                  const ChosenRows<Growth>& chosen)
{
    std::size_t rate_columns = 0;
    std::size_t api_columns = 0;
    std::vector<ShownRow> compared;
    for (std::size_t at = 0;
         at < std::min(std::max(kComparedRows, chosen.shown), chosen.rows.size()); ++at) {
        const Growth& row = *chosen.rows[at];
        compared.push_back({&row, row.device, row.process});
        if (at >= chosen.shown)
            continue;
        rate_columns = std::max(rate_columns, columns(rate_words(row.rate)));
        api_columns = std::max(api_columns, columns(terminal_safe(row.api)));
    }
    const RowHeadlines headlines(compared, report);
    for (std::size_t at = 0; at < chosen.shown; ++at)
        growth_line(out, prefix, *chosen.rows[at], rate_columns, api_columns,
                    [&](std::size_t room) { return headlines.in(at, room); });
    if (chosen.more > 0)
        out.stream() << prefix << "  " << chosen.rest() << '\n';
}

// Of the processes whose rows these are.
std::string steps_words(const Report& report)
{
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    std::set<std::string> names;
    for (const Growth& growth : report.growth) {
        const Process& process = report.processes[growth.process];
        if (process.step_name.empty())
            continue;
        least = std::min(least, process.step_count);
        most = std::max(most, process.step_count);
        names.insert(fmt::format("\"{}\"", terminal_safe(process.step_name)));
    }
    if (names.empty())
        return "; no steps were seen: NVTX ranges or marks in the loop make this surer";
    return fmt::format("; {}{} of {}, the first fifth left out as warm-up",
                       least == most ? "" : grouped(least) + " to ", counted(most, "step"),
                       fmt::join(names, ", "));
}

// The sums of one function in all processes; its class is that of the process with the most.
struct JoinedSum : LeakSum {
    std::vector<std::size_t> processes;
};

// Largest first. Of one process, its devices are told apart.
std::vector<JoinedSum> joined_sums(const Report& report)
{
    const bool one = report.processes.size() == 1;
    std::map<std::tuple<LeakKind, format::Memory, std::string, std::int32_t>, std::size_t> known;
    std::vector<JoinedSum> joined;
    for (const LeakSum& sum : report.sums) {
        const auto [at, added] = known.try_emplace(
            {sum.kind, sum.memory, function_key(sum.frame()), one ? sum.device : 0}, joined.size());
        if (added) {
            joined.push_back({sum, {sum.process}});
            continue;
        }
        JoinedSum& all = joined[at->second];
        all.bytes += sum.bytes;
        all.blocks += sum.blocks;
        all.stacks = std::max(all.stacks, sum.stacks);
        all.processes.push_back(sum.process);
    }
    sort_by_size(joined);
    return joined;
}

} // namespace

std::string class_word(const Leak& leak)
{
    switch (leak.leak_class) {
    case LeakClass::once:
        return "";
    case LeakClass::several:
        return name(leak.pattern);
    default:
        return name(leak.leak_class);
    }
}

std::string class_words(const Leak& leak)
{
    switch (leak.leak_class) {
    case LeakClass::growing:
        return fmt::format("growing by {}, {} sure", rate_words(leak.rate),
                           percent_sure(leak.rate));
    case LeakClass::unclear:
        return leak.rate.steps == 0
                   ? name(leak.pattern)
                   : fmt::format("unclear, perhaps growing by {}", rate_words(leak.rate));
    case LeakClass::cache:
        return "bounded, as a cache is";
    case LeakClass::several:
        return name(leak.pattern);
    default:
        return name(leak.leak_class);
    }
}

std::string leaked_parts(const Report& report, const std::vector<std::size_t>& processes)
{
    constexpr std::array<std::pair<LeakClass, const char*>, 3> kParts = {
        {{LeakClass::growing, "growing"},
         {LeakClass::start_up, "from start-up"},
         {LeakClass::cache, "bounded"}}};
    const auto counts = [&](const Leak& leak) {
        return std::binary_search(processes.begin(), processes.end(), leak.process);
    };
    std::string parts;
    std::uint64_t all = 0;
    for (const std::size_t process : processes)
        all += report.processes[process].totals.leaked_bytes;
    std::uint64_t named = 0;
    for (const auto& [part, word] : kParts) {
        std::uint64_t bytes = 0;
        for (const Leak& leak : report.leaks)
            bytes += leak.leak_class == part && counts(leak) ? leak.bytes : 0;
        named += bytes;
        if (bytes > 0)
            parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", human_bytes(bytes), word);
    }
    if (named > 0 && named < all)
        parts += fmt::format(", {} other", human_bytes(all - named));
    return parts;
}

void write_sums(TextOutput& out, const Report& report, std::string_view prefix, std::size_t usual)
{
    const std::vector<JoinedSum> sums = joined_sums(report);
    const ChosenRows<JoinedSum> chosen = choose(sums, out.style().rows, usual);
    const bool of_several_devices =
        std::any_of(report.sums.begin(), report.sums.end(),
                    [&](const LeakSum& sum) { return sum.device != report.sums.front().device; });
    if (prefix.empty() && chosen.shown > 0)
        out.stream() << '\n';
    for (std::size_t at = 0; at < chosen.shown; ++at) {
        const JoinedSum& sum = *chosen.rows[at];
        const Frame& frame = sum.stack.front();
        const std::string place(file_name(place_of(frame)));
        const std::string function =
            shorten_function(function_of(frame), out.width() / 2) + (place.empty() ? "" : " ");
        const std::string owner = report.processes.size() > 1
                                      ? ", " + part_of_job(report, sum.processes)
                                  : of_several_devices ? fmt::format(", device {}", sum.device)
                                                       : "";
        out.wrapped(prefix, prefix.empty() ? "" : "  ",
                    fmt::format("{} share {}{}: {} in {}, {}, {}{}",
                                counted(sum.stacks, "call stack"), function, place,
                                human_bytes(sum.bytes), counted(sum.blocks, "block"),
                                name(sum.kind), class_words(sum), owner));
    }
    if (chosen.more > 0 && chosen.shown > 0)
        out.stream() << prefix << (prefix.empty() ? "" : "  ") << "... and "
                     << counted(chosen.more, "more such sum") << '\n';
}

void write_growth(TextOutput& out, const Report& report)
{
    if (report.growth.empty())
        return;
    bool freed = false;
    std::size_t stacks = 0;
    for (const Growth& growth : report.growth) {
        freed = freed || growth.freed;
        stacks += growth.stacks;
    }
    out.stream() << '\n';
    out.wrapped("", "",
                fmt::format("{}: {} up to the end{}", out.painted("Growing", kBold),
                            counted(stacks, "call stack"), steps_words(report)));
    growth_lines(out, report, "", choose(report.growth, out.style().rows, kShownGrowth));
    if (freed)
        out.stream() << "    freed: only after the last allocation\n";
}

void write_growth_summary(TextOutput& out, const Report& report, std::string_view prefix)
{
    std::vector<Growth> freed;
    for (const Growth& growth : report.growth)
        if (growth.freed)
            freed.push_back(growth);
    if (!freed.empty())
        growth_lines(out, report, prefix, choose(freed, out.style().rows, kShownInSummary));
}

} // namespace vramscope::report
