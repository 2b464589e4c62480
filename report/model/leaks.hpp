// report/model/leaks.hpp — what was never freed, one row per call stack.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/growth.hpp"
#include "report/model/reach.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

enum class LeakKind {
    at_exit,         // never freed; or its context was destroyed only by the exit itself
    at_reset,        // its context was destroyed while the program ran on, and nothing freed it
    at_crash,        // in use when the program was killed or crashed: perhaps no leak at all
    in_use,          // in use by a program that is still running
    unclosed_import, // memory of others that was imported, and is still open here
    // These are listed, but are no leaks: a pool, a context, …, and what belongs to a graph.
    never_destroyed,
    graph_owned,
    freed_by_end, // in use until the work was over: no leak
};
template <>
struct Words<LeakKind> {
    static constexpr format::Word<LeakKind> kAll[] = {
        {LeakKind::at_exit, "leaked-at-exit"},
        {LeakKind::at_reset, "leaked-at-reset"},
        {LeakKind::at_crash, "in-use-at-crash"},
        {LeakKind::in_use, "in-use-now"},
        {LeakKind::unclosed_import, "unclosed-import"},
        {LeakKind::never_destroyed, "never-destroyed"},
        {LeakKind::graph_owned, "graph-owned"},
        {LeakKind::freed_by_end, "freed-by-the-end"},
    };
};

// How the blocks of a row came to be. It is told from their times alone, so it is only a hint.
enum class Pattern {
    once,     // one block
    several,  // more than one, close together
    repeated, // three or more, over a tenth of the run at least
};
template <>
struct Words<Pattern> {
    static constexpr format::Word<Pattern> kAll[] = {
        {Pattern::once, "once"}, {Pattern::several, "several"}, {Pattern::repeated, "repeated"}};
};

struct ThreadLabel {
    std::uint32_t tid = 0;
    std::string name;
};
template <>
struct Fields<ThreadLabel> {
    static constexpr const char* kName = "thread";
    static constexpr FieldList kAll{
        Field{"tid", &ThreadLabel::tid},
        Field{"name", OrNull{&ThreadLabel::name}},
    };
};

struct Leak : CallPlace {
    LeakKind kind = LeakKind::at_exit;
    Pattern pattern = Pattern::once;
    LeakClass leak_class = LeakClass::unclear;
    GrowthRate rate;              // 0 unless it grows, or is unclear and grew
    std::vector<AliveTime> alive; // at its place over the run: few, in order of time; none: unknown
    std::uint64_t stacks = 1;     // more in the row of those that have none of their own
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::uint64_t shared_blocks = 0; // blocks that others may have open by a name
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1; // -1: not known
    // When the first and the last block were allocated, since the log was opened.
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::vector<ThreadLabel> threads; // those that allocated, at most kMaxLeakThreads of them
    std::uint64_t thread_count = 0;
    std::string phase; // path of the NVTX ranges that all blocks share: "epoch/step"; empty: none
    std::vector<std::string> names; // that the program gave to blocks, in order; few
    bool phases_differ = false;     // some blocks came from deeper or sibling ranges
    std::vector<ReachGroup> reach;  // what a search found of its blocks; none: there was none
    std::uint64_t reach_more = 0;   // groups that are not listed
    // Blocks in `reach` that were freed after the search; nobody knows of which groups.
    std::uint64_t reach_freed = 0;
    std::size_t process = 0; // index into Report::processes

    bool grows() const noexcept { return rate.grows(); }
    // The times, and what was alive at each.
    std::array<std::vector<std::uint64_t>, 2> alive_columns() const;
};

inline constexpr std::size_t kMaxLeakThreads = 16;

template <>
struct Fields<Leak> {
    static constexpr const char* kName = "leak";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"kind", &Leak::kind,
                  "leaked-at-exit: never freed. leaked-at-reset: its context was destroyed while "
                  "the program ran on. in-use-at-crash: the program was killed or crashed, perhaps "
                  "no leak. in-use-now: the program is still running. The last four each in a "
                  "list of its own."},
            Field{"pattern", &Leak::pattern,
                  "A hint from the times alone. once: one block. several: more, close together. "
                  "repeated: three or more, over a tenth of the run at least."},
            Field{"class", &Leak::leak_class,
                  "growing: more and more, up to the end of the work. start-up: all of it early, "
                  "and never again. cache: a bounded number that is replaced, or that fills and "
                  "levels off. once: one block. several: a few, here and there. unclear: it grew, "
                  "but not surely, or not to the end."}
                .since(5),
            Field{"growth", When{&Leak::grows, &Leak::rate}, "Of growing and unclear ones."}.since(
                5),
            kFingerprint.since(5),
            Field{"bytes", &Leak::bytes},
            Field{"blocks", &Leak::blocks}.at_least(1),
            Field{"shared_blocks", &Leak::shared_blocks,
                  "Of blocks: were given a name, so that others may have them open."}
                .since(3),
            Field{"api", &CallPlace::api,
                  "The function that the program called, as in cudaMalloc."},
            Field{"entry_point", &CallPlace::entry_point,
                  "The driver's symbol that was hooked, as in cuMemAlloc_v2."},
            Field{"memory", &Leak::memory},
            Field{"device", Ordinal{&Leak::device}},
            Field{"first_ns", &Leak::first_ns},
            Field{"last_ns", &Leak::last_ns},
            Field{"threads", &Leak::threads}.rows_at_most(kMaxLeakThreads),
            Field{"thread_count", &Leak::thread_count, "0: not looked at."},
            Field{"phase", OrNull{&Leak::phase}, "Path of the NVTX ranges that all blocks share."},
            Field{"phases_differ", &Leak::phases_differ},
            Field{"process", &Leak::process, "Index into processes."},
            Field{"names", IfAny{&Leak::names},
                  "That the program gave to blocks (nvtxMemRegionsName), some of them; only where "
                  "it did."}
                .since(6),
            Field{"reach", IfAny{&Leak::reach},
                  "What holds its blocks, the lost first, and of each verdict the largest; only "
                  "where the memory was searched (`run --reach`)."}
                .since(6),
            Field{"reach_more", IfAny{&Leak::reach_more}, "How many more there are."}.since(6),
            Field{"reach_freed", IfAny{&Leak::reach_freed},
                  "How many of the blocks in `reach` were freed after the search, of which no rows "
                  "tell; only where it is not known which."}
                .since(6),
            Field{"alive", PageOnly{&Leak::alive_columns}},
        },
        kStack);
};

// A known leak: the same, with its rule.
struct SuppressedLeak {
    const Leak* leak;

    std::size_t rule() const { return leak->suppression.value_or(0); }
};
template <>
struct Fields<SuppressedLeak> {
    static constexpr const char* kName = "suppressed_leak";
    static constexpr auto kAll = joined(
        through(&SuppressedLeak::leak, Fields<Leak>::kAll),
        FieldList{Field{"suppression", &SuppressedLeak::rule,
                        "Index into suppressions: the rule that matches the innermost frame."}
                      .since(5)});
};

// Rows with one innermost function of the program's own (leak_sums.hpp). Its stack is that frame
// alone, of the largest row; threads and ranges are left out.
struct LeakSum : Leak {
    std::uint64_t stacks = 0; // rows

    const Frame& frame() const { return stack.front(); }
};
template <>
struct Fields<LeakSum> {
    static constexpr const char* kName = "leak_sum";
    static constexpr FieldList kAll{
        Field{"kind", &LeakSum::kind}.never("unclosed-import", "never-destroyed", "graph-owned",
                                            "freed-by-the-end"),
        Field{"class", &LeakSum::leak_class, "Of all of it together; as in leaks."},
        Field{"growth", When{&LeakSum::grows, &LeakSum::rate}, "Of growing and unclear ones."},
        Field{"stacks", &LeakSum::stacks, "How many rows of leaks it is the sum of."}.at_least(2),
        Field{"bytes", &LeakSum::bytes},
        Field{"blocks", &LeakSum::blocks}.at_least(2),
        Field{"memory", &LeakSum::memory},
        Field{"device", Ordinal{&LeakSum::device}},
        Field{"first_ns", &LeakSum::first_ns},
        Field{"last_ns", &LeakSum::last_ns},
        Field{"process", &LeakSum::process, "Index into processes."},
        Field{"frame", &LeakSum::frame, "The function, at the line of its largest row."},
    };
};

// What was left at the end, in lists by what it is to the program.
struct LostRows {
    std::vector<Leak> leaks;        // memory of the program's own
    std::vector<Leak> imports;      // never closed
    std::vector<Leak> owners;       // never destroyed
    std::vector<Leak> graph_memory; // all that was made
    std::vector<Leak> reservations; // never given back: addresses, no memory
    std::vector<Leak> held;         // when the program allocated last; freed by its end
    std::vector<LeakSum> sums;      // leaks that no rule suppresses, a row for each function

    void take(LostRows&& more);
    void sort();
};

template <typename Row>
void sort_by_size(std::vector<Row>& leaks)
{
    std::stable_sort(leaks.begin(), leaks.end(), [](const Leak& a, const Leak& b) {
        return std::tie(b.bytes, b.blocks, a.first_ns) < std::tie(a.bytes, a.blocks, b.first_ns);
    });
}

} // namespace vramscope::report
