// report/text/sections.hpp — the parts that the views of a report are made of.
//
// Functions are grouped by the file that defines them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "report/text/output.hpp"

namespace vramscope::report {

struct Comparison;

// advice.cpp
// Nothing, where there is none.
void write_advice(TextOutput& out, const Report& report);

// churn.cpp
// Rates, the driver's time, what could have been kept, histograms and places of a process. Its name
// where there are several.
void write_churn_of(TextOutput& out, const Process& process, const std::string& name);

// compared_holdings.cpp
// Leaks that were held and are lost, objects, contexts, owners; nothing, where there is none.
void write_compared_holdings(TextOutput& out, const Comparison& comparison);

// contexts.cpp
// Those in which nothing was done, of processes that work elsewhere; nothing, where there is none.
void write_stray_contexts(TextOutput& out, const Report& report);

// growth.cpp
// "growing by 64 KiB per step, 99.9 % sure", "start-up", "once", …
std::string class_words(const Leak& leak);
// … in a word, for a narrow column; empty: there is nothing to say.
std::string class_word(const Leak& leak);

// "6.2 MiB growing, 11.4 MiB from start-up", of these processes; empty where no part of what leaked
// is either.
std::string leaked_parts(const Report& report, const std::vector<std::size_t>& processes);

// The leaks of functions that have several call stacks, a line for each function.
void write_sums(TextOutput& out, const Report& report, std::string_view prefix,
                std::size_t usual = SIZE_MAX);

// All that grows, a line each. Where nothing does, nothing.
void write_growth(TextOutput& out, const Report& report);
// What `vramscope run` says of growth that is not a leak.
void write_growth_summary(TextOutput& out, const Report& report, std::string_view prefix);

// leaks.cpp
// A paragraph for each call stack.
void write_leak_rows(TextOutput& out, const Report& report);
// The same, and what was never closed or given back.
void write_lost(TextOutput& out, const Report& report);
// One line for each of the first few: size, API, the innermost frame.
void write_top_leaks(TextOutput& out, const Report& report, std::string_view prefix);

// memory.cpp
// What the driver's own pools keep, as they were told of last: a line for each that does.
void write_kept_now(TextOutput& out, const Process& process);

// misuse.cpp
// Nothing, where there was no misuse.
void write_misuse(TextOutput& out, const Report& report);
// Memory that was written while it was free, or beyond a block: nothing, where none was seen.
void write_damage(TextOutput& out, const Report& report);
// Owners that were never destroyed, and calls that the driver refused: a line each.
void write_owners_and_refusals(TextOutput& out, const Report& report);

// objects.cpp
// Those that are made again and again, and never destroyed; nothing, where none is.
void write_objects_left(TextOutput& out, const Report& report);

// pool.cpp
// How the pool was set: "cache, sync lazy"; empty: the log does not say.
std::string pool_line(const PoolReport& pool);

// A table for each device; with a pool, two maps too.
void write_pools(TextOutput& out, const Report& report);

// Where the blocks lay, at the pool's peak and at the end.
void write_maps(TextOutput& out, const PoolDevice& device);
void write_map_legend(TextOutput& out);

// ranks.cpp
// A row for each process, and in which of them each call stack leaks. Nothing for a single process.
void write_ranks(std::ostream& out, const Report& report, const TextStyle& style);
// The first few of these call stacks, a line each, for what `vramscope run` prints.
void write_ranks_summary(std::ostream& out, const Report& report, const TextStyle& style,
                         std::string_view prefix);

// "125 of 1,000 ranks (7-999:8): 200 MiB each"
std::string shared_words(const Report& report, const SharedLeak& shared);

// shortages.cpp
// "short by 2.1 GiB": why the memory was not enough, in one line.
std::string describe(const Shortage& shortage);

// Nothing, where memory was never short.
void write_shortages(TextOutput& out, const Report& report);

// held.cpp
// What was in use until the work was over; nothing, where nothing was.
void write_held(TextOutput& out, const Report& report);

// suppressions.cpp
// "17.7 MiB in 101 blocks, by 2 rules"; empty: nothing was suppressed.
std::string suppressed(const Report& report);
// "leak:load_labels (known.supp:3)"
std::string rule_in_words(const SuppressionRule& rule);
// A line for each rule, used or not; nothing, where there are none.
void write_suppressions(TextOutput& out, const Report& report);

// tests.cpp
// What each test did to memory; nothing, where the programs named none.
void write_tests(TextOutput& out, const Report& report);
void write_tests_summary(TextOutput& out, const Report& report, std::string_view prefix);

// workspaces.cpp
// Libraries whose workspaces grow; nothing, where none does.
void write_workspaces(TextOutput& out, const Report& report);

// by_owner.cpp
// What each owner has; nothing, where none is named.
void write_by_owner(TextOutput& out, const Report& report);

// What was found beside leaks, what hurts most first; see Headline. A new kind is a row.
struct FoundSection {
    void (*write)(TextOutput& out, const Report& report);
    // The rows that `vramscope run` shows below its headlines; null: the headline says enough.
    void (*summary)(TextOutput& out, const Report& report, std::string_view prefix) = nullptr;
};
inline constexpr FoundSection kFoundSections[] = {
    {write_shortages},
    {write_misuse},
    {write_damage},
    {write_growth, write_growth_summary},
    {write_objects_left},
    {write_workspaces},
    {write_stray_contexts},
    {write_by_owner},
    {write_tests, write_tests_summary},
};

} // namespace vramscope::report
