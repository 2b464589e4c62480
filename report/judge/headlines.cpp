// report/judge/headlines.cpp — a sentence for each kind of what was found.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/judge/judge.hpp"
#include "report/words/cuda_results.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/mempool_words.hpp"
#include "report/words/object_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kPlaceColumns = 60;

// The line of the user's that a call came from; empty: there is no stack.
std::string own_place(const CallPlace& call)
{
    const Frame* const frame = call.own_frame();
    return frame ? frame_in(*frame, kPlaceColumns) : "";
}

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
    std::size_t processes = 0;
    for (const Process& process : report.processes)
        if (process.end.crashed()) {
            bytes += process.totals.leaked_bytes;
            ++processes;
        }
    if (processes == 0)
        return {};
    return fmt::format(" while holding {}{}{}", bytes == 0 ? "nothing" : human_bytes(bytes),
                       report.processes.size() == 1
                           ? ""
                           : fmt::format(", in {} of {} processes", grouped(processes),
                                         grouped(report.processes.size())),
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

std::string free_in_pieces(const Shortage& shortage)
{
    const std::uint64_t pieces = shortage.free_pieces + (shortage.free > 0 ? 1 : 0);
    return fmt::format("{} were free in {}, the largest {}", human_bytes(shortage.free_in_all()),
                       counted(pieces, "piece"),
                       human_bytes(std::max(shortage.largest_gap, shortage.free)));
}

// Where the driver alone knows its pieces.
std::string free_in_all(const Shortage& shortage)
{
    if (!shortage.free_known())
        return "how much was free is not known";
    const std::string words =
        human_bytes(shortage.free_in_all()) + " were free" +
        (shortage.setting.empty()
             ? ""
             : fmt::format(" of the {} that {} allows", human_bytes(shortage.allowed),
                           terminal_safe(shortage.setting)));
    return shortage.kind == ShortageKind::fragmented ? words + ", but not in one piece" : words;
}

std::string held_most(const Shortage& shortage)
{
    const std::uint64_t most = shortage.owners.empty() ? 0 : shortage.owners.front().bytes;
    const std::uint64_t others = shortage.parts.unattributed;
    const std::string place = shortage.owners.empty() ? "" : own_place(shortage.owners.front());
    std::string words;
    if (others > most)
        words = fmt::format("; contexts, streams, code and other processes had {}",
                            human_bytes(others));
    if (!place.empty())
        words += fmt::format("; {}{} held the most, {}", others > most ? "of the program's, " : "",
                             place, human_bytes(most));
    return words;
}

std::string cause(const Shortage& shortage)
{
    switch (shortage.kind) {
    case ShortageKind::cached:
        return fmt::format("a piece of {} was freed, and not safe to reuse yet",
                           human_bytes(shortage.largest_gap));
    case ShortageKind::fragmented:
        if (!shortage.pieces_known())
            return free_in_all(shortage);
        return free_in_pieces(shortage) +
               (shortage.apart ? fmt::format("; {} holds them apart", own_place(*shortage.apart))
                               : "");
    case ShortageKind::refused:
        return refused_though_free(shortage);
    case ShortageKind::limited:
        return above_its_maximum(shortage);
    case ShortageKind::impossible:
        return impossible_size(shortage.requested);
    default:
        if (!shortage.mempools.empty() && shortage.mempools.front().kept() > 0)
            return free_in_all(shortage) + "; " + kept_by(shortage.mempools.front());
        return free_in_all(shortage) + held_most(shortage);
    }
}

std::string exit_status(const Process& process)
{
    if (!process.end.has_status() || process.end.status == 0)
        return "";
    return fmt::format("; the program ended with status {}", process.end.status);
}

std::string out_of_memory(const Report& report)
{
    if (report.shortages.empty())
        return {};
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
                       cause(largest), exit_status(report.processes[largest.process]));
}

// ---- what was done wrong ----

std::string wrong_frees(const Report& report)
{
    if (report.misuse.empty())
        return {};
    const std::uint64_t calls = sum_of(report.misuse, &Misuse::calls);
    const Misuse& first = report.misuse.front();
    return fmt::format(": {}{} {}{}", counted(calls, "call"), the_first_of(calls),
                       with_article(name(first.kind)), at_place(first.call));
}

std::string damaged(const Report& report)
{
    if (report.damage.empty())
        return {};
    const std::uint64_t times = sum_of(report.damage, &Damage::times);
    const Damage& first = report.damage.front();
    const std::string place = first.allocation ? own_place(*first.allocation) : "";
    return fmt::format(": {}{} {}{}", counted(times, "block"), the_first_of(times),
                       format::name(first.kind), place.empty() ? "" : ", allocated at " + place);
}

// ---- what is left ----

std::string leaked(const Report& report)
{
    return report.verdict == Verdict::leaks ? ": " + all_that_is_left(report) : "";
}

// Where events are missing, nobody knows that it grows.
bool is_proven(const Report& report, std::size_t process)
{
    return report.processes[process].coverage.is_whole();
}

std::string grows(const Report& report)
{
    std::size_t rows = 0;
    const Growth* fastest = nullptr;
    for (const Growth& row : report.growth)
        if (is_proven(report, row.process) && !format::is_object(row.memory) && ++rows == 1)
            fastest = &row;
    if (!fastest)
        return {};
    return fmt::format(": {}{}{}{}", rate_words(fastest->rate), at_place(*fastest),
                       fastest->freed ? "; freed only as the program ended" : "", and_more(rows));
}

std::string objects(const Report& report)
{
    std::size_t rows = 0;
    const ObjectRow* most = nullptr;
    for (const ObjectRow& row : report.objects)
        if (row.piles_up() && ++rows > 0 && (!most || row.most_known() > most->most_known()))
            most = &row;
    if (!most)
        return {};
    return fmt::format(": {}, {}{}{}{}", counted(most->most_known(), object_noun(most->memory)),
                       rate_words(most->rate), at_place(*most),
                       most->is_left() ? "" : "; gone only as the program ended", and_more(rows));
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
    if (report.workspaces.empty())
        return {};
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
        if (row.stray && is_proven(report, row.process) && ++rows == 1)
            first = &row;
    if (!first)
        return {};
    return fmt::format(": one on device {}, where {}, opened by {}{}{}{}", first->device,
                       first->at_all() ? "only host memory was allocated" : "nothing was allocated",
                       terminal_safe(first->api), at_place(*first),
                       first->ended ? "; ended by " + terminal_safe(first->ended->api) : "",
                       rows < 2 ? "" : fmt::format("; and {} more", grouped(rows - 1)));
}

std::string refused(const Report& report)
{
    constexpr std::uint64_t kOutOfMemory = 2;                       // a headline of its own
    constexpr std::array<std::uint64_t, 2> kQuestions = {800, 801}; // not permitted, not supported
    std::uint64_t calls = 0;
    const FailedCall* first = nullptr;
    for (const FailedCall& row : report.failed_calls)
        if ((row.result != kOutOfMemory || report.shortages.empty()) &&
            std::find(kQuestions.begin(), kQuestions.end(), row.result) == kQuestions.end()) {
            calls += row.calls;
            first = first ? first : &row;
        }
    if (!first)
        return {};
    return fmt::format(": {} by the driver{} with {}{}", counted(calls, "call"),
                       the_first_of(calls), result_name(first->result), at_place(*first));
}

// ---- nothing ----

std::string inconclusive(const Report& report)
{
    return report.verdict == Verdict::inconclusive
               ? ": this run does not show whether the program leaks"
               : "";
}

struct Sentence {
    HeadlineKind kind;
    const char* title;
    std::string (*rest)(const Report& report);               // empty: there is none of it
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
    {HeadlineKind::inconclusive, "Inconclusive", inconclusive},
};

Headline nothing_found(const Report& report)
{
    const Totals& totals = report.totals;
    if (totals.allocations == 0 && totals.graph_bytes == 0)
        return {HeadlineKind::nothing_allocated, "No GPU memory was allocated", ""};
    return {HeadlineKind::clean, "Clean", ": " + nothing_leaked(totals)};
}

} // namespace

std::vector<Headline> headlines_of(const Report& report)
{
    std::vector<Headline> headlines;
    for (const Sentence& sentence : kSentences)
        if (std::string rest = sentence.rest(report); !rest.empty())
            headlines.push_back({sentence.kind,
                                 sentence.title_of ? sentence.title_of(report) : sentence.title,
                                 std::move(rest)});
    if (headlines.empty())
        headlines.push_back(nothing_found(report));
    return headlines;
}

} // namespace vramscope::report
