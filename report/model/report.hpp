// report/model/report.hpp — what the logs of one run say, ready to be printed.
//
// This folder has the rows of a report and nothing else: no function of a stage, and no header but
// those of the log's format. Whatever is printed is here.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/churn.hpp"
#include "report/model/counts.hpp"
#include "report/model/damage.hpp"
#include "report/model/framework.hpp"
#include "report/model/growth.hpp"
#include "report/model/leaks.hpp"
#include "report/model/memory.hpp"
#include "report/model/misuse.hpp"
#include "report/model/pool.hpp"
#include "report/model/process_end.hpp"
#include "report/model/ranks.hpp"
#include "report/model/shortages.hpp"
#include "report/model/suppressions.hpp"
#include "report/model/tests.hpp"
#include "report/model/unread_file.hpp"
#include "report/model/verdict.hpp"
#include "report/model/workspaces.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope::report {

struct MemoryTotal {
    format::Memory memory = format::Memory::none;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};
template <>
struct Fields<MemoryTotal> { // without its memory, which is its key
    static constexpr const char* kName = "sum";
    static constexpr std::tuple kAll{
        Field{"bytes", &MemoryTotal::bytes},
        Field{"blocks", &MemoryTotal::blocks},
    };
};

struct Totals : MemoryCounts {
    std::uint64_t leaked_bytes = 0;
    std::uint64_t leaked_blocks = 0;
    std::vector<MemoryTotal> leaked_by_memory; // only kinds that leaked
    std::uint64_t suppressed_bytes = 0;  // known to leak, and in none of the leaked and unclosed
    std::uint64_t suppressed_blocks = 0; // those of imports included, their bytes not
    std::uint64_t unclosed_imports = 0;  // memory of others that is still open here
    std::uint64_t unclosed_import_bytes = 0;  // as far as it is known
    std::uint64_t graph_bytes = 0;            // bytes of graph_allocations; the graphs free them
    std::uint64_t reserved_address_bytes = 0; // reservations never given back: addresses, no memory
    std::uint64_t address_reservations = 0;

    void add_leaked(const MemoryTotal& more);
    Totals& operator+=(const Totals& other);

    std::vector<std::pair<format::Memory, MemoryTotal>> leaked_of_memory() const;
};
template <>
struct Fields<Totals> {
    static constexpr const char* kName = "totals";
    static constexpr const char* kSays =
        "Of memory; reservations of addresses are counted apart, a graph's own memory is not "
        "counted. Over several processes peaks are those of the one that had the most, all else "
        "are sums.";
    static constexpr std::tuple kAll{
        Field{"allocations", &Totals::allocations},
        Field{"frees", &Totals::frees},
        Field{"allocated_bytes", &Totals::allocated_bytes},
        Field{
            "peak_device_bytes", &Totals::peak_device_bytes,
            "Requested by the program, of all devices together; at_peak of device_memory has what "
            "was allocated for it."},
        Field{"peak_host_bytes", &Totals::peak_host_bytes},
        Field{"leaked_bytes", &Totals::leaked_bytes},
        Field{"leaked_blocks", &Totals::leaked_blocks},
        Field{"leaked_by_memory", Keyed{&Totals::leaked_of_memory}},
        Field{"suppressed_bytes", &Totals::suppressed_bytes,
              "Known leaks: in none of leaked and unclosed."}
            .since(5),
        Field{"suppressed_blocks", &Totals::suppressed_blocks,
              "Those of imports too, whose bytes are in no sum."}
            .since(5),
        Field{"address_reservations", &Totals::address_reservations},
        Field{"reserved_address_bytes", &Totals::reserved_address_bytes},
        Field{"unclosed_imports", &Totals::unclosed_imports}.since(3),
        Field{"unclosed_import_bytes", &Totals::unclosed_import_bytes, "As far as they are known."}
            .since(3),
        Field{"graph_bytes", &Totals::graph_bytes, "Of coverage.graph_allocations."}.since(3),
    };
};

// What was seen and what was not.
struct Coverage : EventCounts {
    std::array<std::uint64_t, format::kLostReasons> lost{};
    std::uint64_t damaged_chunks = 0;
    bool truncated = false;                     // the file ends before its last chunk does
    std::vector<std::string> entry_points_seen; // those of the events, sorted
    // Looked up by the program and not hooked: newer functions of memory, some as name@version.
    std::vector<std::string> unknown_entry_points;

    std::uint64_t lost_events() const noexcept;
    bool is_whole() const noexcept; // no event is missing, as far as the log can tell
    Coverage& operator+=(const Coverage& other);

    std::vector<std::pair<std::string, std::uint64_t>> lost_by_reason() const;
};
template <>
struct Fields<Coverage> {
    static constexpr const char* kName = "coverage";
    static constexpr std::tuple kAll{
        Field{"events", &Coverage::events},
        Field{"allocations", &Coverage::allocations},
        Field{"frees", &Coverage::frees},
        Field{"unmatched_frees", &Coverage::unmatched_frees,
              "Of pointers that were not seen allocated."},
        Field{"missed_frees", &Coverage::missed_frees,
              "An address was handed out again and its free was not seen."},
        Field{"undefined_events", &Coverage::undefined_events},
        Field{"graph_allocations", &Coverage::graph_allocations},
        Field{"failed_calls", &Coverage::failed_calls, "Recorded ones, misuse among them."},
        Field{"names_given", &Coverage::names_given,
              "To memory, handles or pools, so that others can open them."}
            .since(3),
        Field{"pool_trims", &Coverage::pool_trims}.since(3),
        Field{"lost", Keyed{&Coverage::lost_by_reason},
              "Events that were not recorded, by reason."},
        Field{"lost_events", &Coverage::lost_events},
        Field{"damaged_chunks", &Coverage::damaged_chunks},
        Field{"truncated", &Coverage::truncated},
        Field{"entry_points_seen", &Coverage::entry_points_seen}.unique(),
        Field{"unknown_entry_points", &Coverage::unknown_entry_points,
              "Memory functions of the driver that the program looked up and that this version "
              "does not know, as name or name@version: memory from them is not counted."}
            .since(1)
            .unique(),
    };
};

struct DeviceInfo {
    std::int32_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::string name;
};
template <>
struct Fields<DeviceInfo> {
    static constexpr const char* kName = "device";
    static constexpr std::tuple kAll{
        Field{"ordinal", &DeviceInfo::ordinal}.at_least(0),
        Field{"bytes", &DeviceInfo::bytes},
        Field{"name", &DeviceInfo::name},
    };
};

// A named moment: NVTX marks and vramscope_point of the program, or `vramscope mark` from outside.
struct Mark {
    std::uint64_t ns = 0; // since the log was opened
    std::string name;
    std::uint32_t tid = 0; // the program's thread; 0: set by `vramscope mark`
};
template <>
struct Fields<Mark> {
    static constexpr const char* kName = "mark";
    static constexpr std::tuple kAll{
        Field{"ns", &Mark::ns},
        Field{"name", &Mark::name},
        Field{"tid", OrNull{&Mark::tid},
              "The program's thread; null: set from outside, by `vramscope mark`."}
            .at_least(1),
    };
};

// Nodes of PyTorch's autograd, by whether it is known which functions of Python made them.
struct AutogradNodes {
    std::uint64_t with_origin = 0;
    std::uint64_t without_origin = 0;

    std::uint64_t made() const noexcept { return with_origin + without_origin; }
};
template <>
struct Fields<AutogradNodes> {
    static constexpr const char* kName = "autograd";
    static constexpr std::tuple kAll{
        Field{"nodes", &AutogradNodes::made},
        Field{"nodes_with_origin", &AutogradNodes::with_origin},
    };
};

struct Process;

// What was seen of a process, and what it ran on.
struct Surroundings {
    const Coverage* coverage;
    const Process* process; // nullptr: there is none

    bool known() const noexcept { return process != nullptr; }
    std::string driver_path() const;
    std::string driver_version() const;
    std::optional<bool> simulated() const; // the log may not say
    std::string unwinder() const;
};
template <>
struct Fields<Surroundings> {
    static constexpr const char* kName = "coverage";
    static constexpr const char* kSays = "What was seen, and what was not.";
    static constexpr auto known = &Surroundings::known;
    static constexpr auto kAll = std::tuple_cat(
        through(&Surroundings::coverage, Fields<Coverage>::kAll),
        std::tuple{
            Field{"driver", If{known, Group{Field{"path", OrNull{&Surroundings::driver_path}},
                                            Field{"version", OrNull{&Surroundings::driver_version}},
                                            Field{"simulated", &Surroundings::simulated}}}},
            Field{"unwinder", If{known, OrNull{&Surroundings::unwinder}}},
        });
};

struct Process {
    std::uint32_t pid = 0;
    std::uint32_t parent_pid = 0;
    std::string program;
    std::string command;
    std::filesystem::path log;
    std::string started;           // real time, UTC: 2026-11-21T04:00:00Z; empty if not known
    std::uint64_t duration_ns = 0; // from the log's opening to its last event
    ProcessEnd end;
    std::vector<std::pair<std::string, std::string>> info; // Info records, in order
    std::vector<DeviceInfo> devices;
    std::vector<FrameworkUse> frameworks;
    AutogradNodes nodes;
    std::vector<Mark> marks;      // in order of time, at most kMostMarks
    std::uint64_t mark_count = 0; // all marks, kept or not
    std::vector<TestRow> tests;   // in order of time, at most Tests::kMostTests
    std::uint64_t test_count = 0; // all tests that began, kept or not
    std::string step_name;        // a range or mark that growth is told per; empty: per call
    std::uint64_t step_count = 0;
    Totals totals;
    PoolReport pool;
    std::vector<AllocatorMap> allocator_maps; // only where a page is wanted
    ChurnReport churn;
    std::vector<MemoryReport> memory; // sorted by ordinal: devices of which anything is known
    std::uint64_t shortage_count = 0; // allocations that failed for want of memory, all of them
    Coverage coverage;
    std::uint32_t threads = 0;           // that are in the log
    std::vector<std::string> crashed_in; // frees that it was inside of when it crashed
    std::vector<std::string> doubts;     // why its list of leaks may not be the whole truth

    // Value of an Info record, "" if there is none.
    std::string info_value(std::string_view key) const;
    // Those of which a process has one; of the others it may have several, which are elsewhere.
    std::vector<std::pair<std::string, std::string>> single_info() const;
    Surroundings seen() const { return {&coverage, this}; }
    bool has_steps() const { return !step_name.empty(); }
    bool has_nodes() const { return nodes.made() > 0; }
    bool has_tests() const { return test_count > 0; }
};
template <>
struct Fields<Process> {
    static constexpr const char* kName = "process";
    static constexpr std::tuple kAll{
        Field{"pid", &Process::pid},
        Field{"parent_pid", &Process::parent_pid},
        Field{"program", OrNull{&Process::program}},
        Field{"command", OrNull{&Process::command}},
        Field{"log", &Process::log},
        Field{"started", OrNull{&Process::started}}.pattern(
            "^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"),
        Field{"duration_ns", &Process::duration_ns},
        Field{"end", &Process::end},
        Field{"devices", &Process::devices},
        Field{"info", Keyed{&Process::single_info}, "Facts that the recorder wrote down, as text."},
        Field{"marks", &Process::marks,
              "Named moments, in order of time; of more than 1000, the first."}
            .rows_at_most(1000),
        Field{"mark_count", &Process::mark_count, "All of them."},
        Field{"steps",
              When{&Process::has_steps,
                   Group{Field{"name", &Process::step_name}, Field{"count", &Process::step_count}}},
              "What growth is told per, where a place has nothing better around it; null: ranges "
              "and marks that are steps were not seen."}
            .since(5),
        Field{"totals", &Process::totals},
        Field{"pool", When{Via{&Process::pool, &PoolReport::is_told_of}, &Process::pool},
              "null: the log does not say whether there was one."}
            .since(4),
        Field{"device_memory", &Process::memory,
              "Each device that the process had memory of, or asked about; pooled or not."}
            .since(5),
        Field{"churn", &Process::churn}.since(5),
        Field{"out_of_memory_count", &Process::shortage_count,
              "Allocations that failed for want of memory."}
            .since(4),
        Field{"coverage", &Process::seen},
        Field{"frameworks", IfAny{&Process::frameworks},
              "Frameworks and heaps of the program with an allocator of their own; missing where "
              "none was found."}
            .since(6),
        Field{"autograd", If{&Process::has_nodes, &Process::nodes},
              "Of PyTorch's: nodes that were made, and those of them of which it is known which "
              "functions of Python made them. Missing where none was made."}
            .since(6),
        Field{
            "tests", If{&Process::has_tests, &Process::tests},
            "What each test did to memory, in order of time, the first 100,000: in a program that "
            "names its tests."}
            .since(6),
        Field{"test_count", If{&Process::has_tests, &Process::test_count},
              "All of them. Only with tests."}
            .since(6),
        Field{"threads", PageOnly{&Process::threads}},
        Field{"crashed_in", PageOnly{&Process::crashed_in}},
    };
};

// Largest rows first.
struct Report : LostRows {
    Verdict verdict = Verdict::inconclusive;
    bool interrupted = false;             // Options::interrupted ended the reading
    std::vector<std::string> reasons;     // why it is inconclusive, one line each
    std::vector<std::string> notices;     // what a reader should know, one line each
    std::vector<UnreadFile> unread_files; // modules whose frames have no names
    std::string sysroot;                  // where files were looked for; see SymbolizerOptions
    std::vector<std::string> path_maps;   // "OLD=NEW"
    std::vector<Process> processes;       // in the order of the logs
    std::vector<Leak> suppressed;         // known leaks and imports, in none of their lists
    std::vector<RuleUse> suppressions;    // all rules of the user's, and the built-in ones used
    std::vector<Misuse> misuse;           // process by process, in the order of the first calls
    std::vector<Damage> damage;           // in the same order
    std::vector<FailedCall> failed_calls; // in the same order; misuse is not among them
    std::vector<Workspace> workspaces;    // those that grow, process by process
    std::vector<Growth> growth; // what grows to the end, freed at exit or not; the fastest first
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
};
template <>
struct Fields<Report> {
    static constexpr const char* kName = "report";
    static constexpr unsigned kMinorVersion = 6;
    static constexpr std::tuple kAll{
        Field{"verdict", &Report::verdict,
              "inconclusive: the run does not show whether the program leaks; verdict_reasons says "
              "why, leaks lists what was in use."},
        Field{"verdict_reasons", &Report::reasons}.lines(),
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
