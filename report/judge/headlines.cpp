// report/judge/headlines.cpp — a sentence for each kind of what was found.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/judge/fastest_growth.hpp"
#include "report/judge/judge.hpp"
#include "report/judge/processes_with.hpp"
#include "report/words/cuda_results.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/object_words.hpp"
#include "report/words/rank_words.hpp"
#include "report/words/shortage_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string at_place(const CallPlace& call)
{
    const std::string place = own_place(call);
    return place.empty() ? "" : ", at " + place;
}

template <typename Row, typename Numbers> // of which Row is one
std::uint64_t sum_of(const std::vector<Row>& rows, std::uint64_t Numbers::*number)
{
    std::uint64_t sum = 0;
    for (const Row& row : rows)
        sum += row.*number;
    return sum;
}

const char* the_first_of(std::uint64_t rows)
{
    return rows == 1 ? "," : ", the first";
}

std::string with_article(std::string_view word)
{
    const bool vowel = std::string_view("aeiou").find(word.front()) != std::string_view::npos;
    return fmt::format("{} {}", vowel ? "an" : "a", word);
}

std::string and_more(std::size_t rows)
{
    return rows < 2 ? "" : "; and " + counted(rows - 1, "more call stack");
}

// ---- crashed ----

// Of the first process that crashed outside of the calls that are recorded.
std::string last_seen(const Report& report)
{
    for (const Process& process : report.processes)
        if (process.last_seen)
            return fmt::format("; it was last seen as it allocated{}",
                               at_place(*process.last_seen));
    return {};
}

std::string crashed(const Report& report)
{
    std::uint64_t bytes = 0;
    for (const std::size_t process : processes_with(HeadlineKind::crashed, report))
        bytes += report.processes[process].totals.leaked_bytes;
    return fmt::format(" while holding {}{}", bytes == 0 ? "nothing" : human_bytes(bytes),
                       last_seen(report));
}

std::string crashed_title(const Report& report)
{
    const auto first = std::find_if(report.processes.begin(), report.processes.end(),
                                    [](const Process& process) { return process.end.crashed(); });
    return first == report.processes.end()
               ? "Crashed"
               : fmt::format("Crashed ({})", signal_name(first->end.signal));
}

// ---- out of memory ----

std::string exit_status(const Process& process)
{
    if (!process.end.has_status() || process.end.status == 0)
        return "";
    return fmt::format("; the program ended with status {}", process.end.status);
}

std::string out_of_memory(const Report& report)
{
    const std::uint64_t all = sum_of(report.processes, &Process::shortage_count);
    const Shortage& largest = *std::max_element(
        report.shortages.begin(), report.shortages.end(),
        [](const Shortage& a, const Shortage& b) { return a.requested < b.requested; });
    const std::string place = own_place(largest);
    const std::string amount =
        largest.requested == 0 ? "memory whose size is not known" : human_bytes(largest.requested);
    return fmt::format("{}: {} wanted {}{}; {}{}",
                       all == 1 ? "" : fmt::format(", {} times", grouped(all)),
                       place.empty() ? terminal_safe(largest.api) : place,
                       largest.at_least && largest.requested > 0 ? "at least " : "", amount,
                       cause_of(largest), exit_status(report.processes[largest.process]));
}

// ---- what was done wrong ----

std::string wrong_frees(const Report& report)
{
    const std::uint64_t calls = sum_of(report.misuse, &Misuse::calls);
    const Misuse& first = report.misuse.front();
    return fmt::format(": {}{} {}{}", counted(calls, "call"), the_first_of(calls),
                       with_article(name(first.kind)), at_place(first.call));
}

std::string damaged(const Report& report)
{
    const std::uint64_t times = sum_of(report.damage, &Damage::times);
    const Damage& first = report.damage.front();
    const std::string place = first.allocation ? own_place(*first.allocation) : "";
    return fmt::format(": {}{} {}{}", counted(times, "block"), the_first_of(times),
                       format::name(first.kind), place.empty() ? "" : ", allocated at " + place);
}

// ---- what is left ----

std::string leaked(const Report& report)
{
    if (report.verdict == Verdict::leaks)
        return ": " + all_that_is_left(report);
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    for (const std::size_t process : processes_with(HeadlineKind::leaks, report)) {
        bytes += report.processes[process].totals.leaked_bytes;
        blocks += report.processes[process].totals.leaked_blocks;
    }
    return ": " + not_freed(bytes, blocks);
}

// "16 KiB to 128 KiB per step", where processes differ.
std::string rates_of(const FastestGrowth& fastest)
{
    constexpr double kAlike = 0.9;
    const GrowthRate& most = fastest.of_function.rate;
    const std::string words = rate_words(most);
    if (fastest.least_per_step >= kAlike * most.bytes_per_step)
        return words;
    return human_bytes(static_cast<std::uint64_t>(fastest.least_per_step + 0.5)) + " to " + words;
}

std::string grows(const Report& report)
{
    const FastestGrowth fastest = fastest_growth(report);
    const Growth& first = fastest.of_function;
    return fmt::format(": {}{}{}{}{}", rates_of(fastest), at_place(first),
                       first.stacks == 1 ? "" : ", from " + counted(first.stacks, "call stack"),
                       first.freed ? "; freed only after the last allocation" : "",
                       and_more(fastest.other_stacks + 1));
}

std::string objects(const Report& report)
{
    std::size_t rows = 0;
    const ObjectRow* most = nullptr;
    for (const ObjectRow& row : report.objects)
        if (row.piles_up() && ++rows > 0 &&
            (!most ||
             std::pair(most->is_left(), most->found()) < std::pair(row.is_left(), row.found())))
            most = &row;
    return fmt::format(": {}, {}{}{}{}", counted(most->found(), object_noun(most->memory)),
                       rate_words(most->rate), at_place(*most),
                       most->is_left() ? "" : "; gone only after the last allocation",
                       and_more(rows));
}

std::string objects_title(const Report& report)
{
    return std::any_of(report.objects.begin(), report.objects.end(),
                       [](const ObjectRow& row) { return row.piles_up() && row.is_left(); })
               ? "Never destroyed"
               : "Destroyed late";
}

std::string workspaces(const Report& report)
{
    const Workspace& first = report.workspaces.front();
    return fmt::format(": {}'s by {}{}{}", terminal_safe(first.library), rate_words(first.rate),
                       at_place(first),
                       report.workspaces.size() == 1
                           ? ""
                           : "; and " + counted(report.workspaces.size() - 1, "more library"));
}

// ": one on device 0, where nothing was allocated, opened by cudaEventQuery, at poll() watch.cpp:8"
std::string stray_contexts(const Report& report)
{
    std::size_t rows = 0;
    const ContextRow* first = nullptr;
    for (const ContextRow& row : report.contexts)
        if (is_told(report, row) && ++rows == 1)
            first = &row;
    return fmt::format(": one on device {}, where {}, opened by {}{}{}{}", first->device,
                       first->at_all() ? "only host memory was allocated" : "nothing was allocated",
                       terminal_safe(first->api), at_place(*first),
                       first->ended ? "; ended by " + terminal_safe(first->ended->api) : "",
                       rows < 2 ? "" : fmt::format("; and {} more", grouped(rows - 1)));
}

std::string refused(const Report& report)
{
    std::uint64_t calls = 0;
    const FailedCall* first = nullptr;
    for (const FailedCall& row : report.failed_calls)
        if (is_told(report, row)) {
            calls += row.calls;
            first = first ? first : &row;
        }
    return fmt::format(": {} by the driver{} with {}{}", counted(calls, "call"),
                       the_first_of(calls), result_name(first->result), at_place(*first));
}

// ---- nothing ----

std::string inconclusive(const Report& report)
{
    return processes_with(HeadlineKind::leaks, report).empty()
               ? ": this run does not show whether the program leaks"
               : ": whether all of its processes leak, this run does not show";
}

struct Sentence {
    HeadlineKind kind;
    const char* title;
    std::string (*rest)(const Report& report);               // called where there is some of it
    std::string (*title_of)(const Report& report) = nullptr; // where the title depends on it
};
constexpr Sentence kSentences[] = {
    {HeadlineKind::crashed, "", crashed, crashed_title},
    {HeadlineKind::out_of_memory, "Out of memory", out_of_memory},
    {HeadlineKind::misuse, "Wrong frees", wrong_frees},
    {HeadlineKind::damage, "Damage", damaged},
    {HeadlineKind::leaks, "Leaks", leaked},
    {HeadlineKind::growth, "Grows", grows},
    {HeadlineKind::objects, "", objects, objects_title},
    {HeadlineKind::workspaces, "Workspaces grow", workspaces},
    {HeadlineKind::stray_contexts, "Stray contexts", stray_contexts},
    {HeadlineKind::failed_calls, "Refused", refused},
};

// " in 2 of 8 ranks (3, 5)"; of one process nothing.
std::string where(const Report& report, const std::vector<std::size_t>& processes)
{
    return report.processes.size() == 1 ? "" : " in " + part_of_job(report, processes);
}

Headline nothing_found(const Report& report)
{
    const Totals& totals = report.totals;
    if (totals.allocations == 0 && totals.graph_bytes == 0)
        return {HeadlineKind::nothing_allocated, "No GPU memory was allocated", "", {}};
    return {HeadlineKind::clean, "Clean", ": " + nothing_leaked(totals), {}};
}

} // namespace

std::vector<Headline> headlines_of(const Report& report)
{
    std::vector<Headline> headlines;
    for (const Sentence& sentence : kSentences)
        if (std::vector<std::size_t> processes = processes_with(sentence.kind, report);
            !processes.empty())
            headlines.push_back(
                {sentence.kind, sentence.title_of ? sentence.title_of(report) : sentence.title,
                 where(report, processes) + sentence.rest(report), std::move(processes)});
    if (report.verdict == Verdict::inconclusive)
        headlines.push_back({HeadlineKind::inconclusive, "Inconclusive", inconclusive(report), {}});
    if (headlines.empty())
        headlines.push_back(nothing_found(report));
    return headlines;
}

} // namespace vramscope::report
