// report/model/leaks.hpp — what was never freed, one row per call stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/growth.hpp"
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
};

// How the blocks of a row came to be. It is told from their times alone, so it is only a hint.
enum class Pattern {
    once,     // one block
    several,  // more than one, close together
    repeated, // three or more, over a tenth of the run at least
};

struct ThreadLabel {
    std::uint32_t tid = 0;
    std::string name;
};

struct Leak : CallPlace {
    LeakKind kind = LeakKind::at_exit;
    Pattern pattern = Pattern::once;
    LeakClass leak_class = LeakClass::unclear;
    GrowthRate rate;              // 0 unless it grows, or is unclear and grew
    std::vector<AliveTime> alive; // at its place over the run: few, in order of time; none: unknown
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
    std::size_t process = 0;        // index into Report::processes
};

inline constexpr std::size_t kMaxLeakThreads = 16;

// Rows with one innermost function of the program's own (leak_sums.hpp). Its stack is that frame
// alone, of the largest row; threads and ranges are left out.
struct LeakSum : Leak {
    std::uint64_t stacks = 0; // rows
};

// What was left at the end, in lists by what it is to the program.
struct LostRows {
    std::vector<Leak> leaks;        // memory of the program's own
    std::vector<Leak> imports;      // never closed
    std::vector<Leak> owners;       // never destroyed
    std::vector<Leak> graph_memory; // all that was made
    std::vector<Leak> reservations; // never given back: addresses, no memory
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

// The words of the JSON report: "leaked-at-exit", "repeated", "device", …
const char* name(LeakKind kind) noexcept;
const char* name(Pattern pattern) noexcept;

} // namespace vramscope::report
