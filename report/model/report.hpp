// report/model/report.hpp — what the logs of one run say, ready to be printed.
//
// This folder has the rows of a report and nothing else: no function of a stage, and no header but
// those of the log's format. Whatever is printed is here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/by_owner.hpp"
#include "report/model/contexts.hpp"
#include "report/model/damage.hpp"
#include "report/model/growth.hpp"
#include "report/model/headline.hpp"
#include "report/model/leaks.hpp"
#include "report/model/misuse.hpp"
#include "report/model/objects.hpp"
#include "report/model/process.hpp"
#include "report/model/ranks.hpp"
#include "report/model/shortages.hpp"
#include "report/model/summary.hpp"
#include "report/model/suppressions.hpp"
#include "report/model/unread_file.hpp"
#include "report/model/verdict.hpp"
#include "report/model/workspaces.hpp"

namespace vramscope::report {

// Largest rows first.
struct Report : LostRows {
    Verdict verdict = Verdict::inconclusive;
    bool interrupted = false;             // Options::interrupted ended the reading
    std::vector<std::string> reasons;     // why it is inconclusive, one line each
    std::vector<Headline> headlines;      // one at least
    std::vector<std::string> notices;     // what a reader should know, one line each
    std::vector<UnreadFile> unread_files; // modules whose frames have no names
    std::string sysroot;                  // where files were looked for; see SymbolizerOptions
    std::vector<std::string> path_maps;   // "OLD=NEW"
    std::vector<std::string> fold;     // regular expressions of functions that allocate for others
    std::vector<Process> processes;    // in the order of the logs
    std::vector<Leak> suppressed;      // known leaks and imports, in none of their lists
    std::vector<RuleUse> suppressions; // all rules of the user's, and the built-in ones used
    std::vector<Misuse> misuse;        // process by process, in the order of the first calls
    std::vector<Damage> damage;        // in the same order
    std::vector<FailedCall> failed_calls; // in the same order; misuse is not among them
    std::vector<Workspace> workspaces;    // those that grow, process by process
    std::vector<Growth> growth; // what grows to the end, freed at exit or not; the fastest first
    std::vector<OwnerSums> by_owner;  // process by process, device by device
    std::vector<ObjectRow> objects;   // process by process; what piles up and what is left first
    std::vector<ContextRow> contexts; // process by process, in the order of their openings
    // Process by process, in order of time: of each, the first few and the last few.
    std::vector<Shortage> shortages;
    Totals totals; // sums; of peaks, the largest of any process
    Coverage coverage;
    Ranks ranks; // the processes side by side

    Surroundings seen() const // what the first process ran on
    {
        return {&coverage, processes.empty() ? nullptr : &processes.front()};
    }
    Notices all_notices() const { return {&notices, &unread_files}; }
    Summary summary() const;
};
template <>
struct Fields<Report> {
    static constexpr const char* kName = "report";
    static constexpr unsigned kMinorVersion = 6;
    static constexpr FieldList kAll{
        Field{"summary", &Report::summary}.since(6),
        Field{"verdict", &Report::verdict,
              "inconclusive: the run does not show whether the program leaks; verdict_reasons says "
              "why, leaks lists what was in use."},
        Field{"verdict_reasons", &Report::reasons}.lines(),
        Field{"findings", &Report::headlines,
              "What was found, a sentence for each kind, what hurts most first; where nothing was, "
              "one that says so. The first is the headline of every form."}
            .since(6)
            .not_empty(),
        Field{"notices", &Report::all_notices},
        Field{"totals", &Report::totals},
        Field{"leaks", &Report::leaks, "Largest first."},
        Field{"leaks_by_function", &Report::sums,
              "Leaks of a function of the program's own that several call stacks lead to, as in a "
              "recursion, summed up by this innermost function; largest first. Each is in leaks "
              "too. Where every call stack allocates at a line of its own there is no sum; known "
              "leaks are in none."}
            .since(6),
        Field{"unclosed_imports", &Report::imports,
              "Others' memory that is still open here: no byte of it is in a total of memory."}
            .since(3),
        Field{"suppressed", each_as<SuppressedLeak>(&Report::suppressed),
              "Known leaks and imports, largest first: in none of those lists."}
            .since(5),
        Field{"suppressions", &Report::suppressions,
              "All rules that the user gave, those that matched nothing with rows 0, and the "
              "built-in ones that matched."}
            .since(5),
        Field{"growth", &Report::growth,
              "Memory that grows up to the end of the work, the fastest first. Most of it is in "
              "leaks too; what is freed at the end is here alone."}
            .since(5),
        Field{"workspaces", &Report::workspaces,
              "What libraries of NVIDIA's keep for themselves and that grows, process by process, "
              "the "
              "fastest first. All of it is in growth too."}
            .since(6),
        Field{"objects", &Report::objects,
              "Streams, events, graphs, modules and what else the driver makes for a program, by "
              "call stack; process by process: what piles up first, then what is left. Of each "
              "process the first 1000."}
            .since(6),
        Field{"contexts", &Report::contexts,
              "Process by process, in the order in which they were opened."}
            .since(6),
        Field{"by_owner", &Report::by_owner,
              "Process by process, device by device: where --owners names owners; else empty."}
            .since(6),
        Field{"misuse", &Report::misuse,
              "Frees that the driver refused and that the log proves wrong, in the order of their "
              "first calls."}
            .since(3),
        Field{
            "damage", &Report::damage,
            "Memory that was written while it was free, or beyond a block: what the pool's poison "
            "and guards found."}
            .since(4),
        Field{"out_of_memory", &Report::shortages,
              "Allocations that failed for want of memory, process by process in order of time; of "
              "each process the first 8 and the last 8: out_of_memory_count has all."}
            .since(4),
        Field{"failed_calls", &Report::failed_calls,
              "All other calls that the driver refused and that were recorded, in that order."}
            .since(3),
        Field{"owners_not_destroyed", &Report::owners,
              "Pools, contexts and the like: no leaks, and no bytes of their own."}
            .since(3),
        Field{"graph_memory", &Report::graph_memory,
              "All that graphs were given, freed or not: theirs to free."}
            .since(3),
        Field{"reservations", &Report::reservations,
              "Addresses that were never given back: no memory, and in no total of it."}
            .since(5),
        Field{"held_at_work_end", &Report::held,
              "What was in use when the program allocated last, and was freed by its end: no leak. "
              "Of each process the call stacks that held the most."}
            .since(6),
        Field{"coverage", &Report::seen},
        Field{"processes", &Report::processes, "Empty only where `run` saw no log of its program."},
        Field{"ranks", &Report::ranks},
    };
};

// Numbers that budgets and comparisons ask for.
std::uint64_t peak_bytes(const Process& process);          // allocated, on any one device
std::uint64_t peak_reserved_bytes(const Process& process); // includes what the pool kept
// What share of the reserved memory lay in pieces beside blocks or was rounded up, when the most
// was reserved; of the device where it was most.
double fragmentation(const Process& process);
// The one of peak_bytes(); null: nothing was allocated on any.
const MemoryReport* device_of_peak(const Process& process);
const MemoryReport* device_of_peak(const Report& report); // looks at all processes
// A memory call in any log, were it only one that failed.
bool saw_memory_call(const Report& report);
// None, and nothing that could have hidden one.
bool saw_nothing(const Report& report);
std::uint64_t driver_calls(const Process& process); // allocations and frees that reached the driver

} // namespace vramscope::report
