// report/model/process.hpp — one process, as its log has it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/churn.hpp"
#include "report/model/framework.hpp"
#include "report/model/memory/memory.hpp"
#include "report/model/memory/pool.hpp"
#include "report/model/objects.hpp"
#include "report/model/process_end.hpp"
#include "report/model/reach.hpp"
#include "report/model/rules.hpp"
#include "report/model/site_sums.hpp"
#include "report/model/tests.hpp"
#include "report/model/totals.hpp"

namespace vramscope::report {

struct DeviceInfo {
    std::int32_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::string name;
};
template <>
struct Fields<DeviceInfo> {
    static constexpr const char* kName = "device";
    static constexpr FieldList kAll{
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
    static constexpr FieldList kAll{
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
    static constexpr FieldList kAll{
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
    static constexpr auto kAll = joined(
        through(&Surroundings::coverage, Fields<Coverage>::kAll),
        FieldList{
            Field{"driver", If{known, Group{Field{"path", OrNull{&Surroundings::driver_path}},
                                            Field{"version", OrNull{&Surroundings::driver_version}},
                                            Field{"simulated", &Surroundings::simulated}}}},
            Field{"unwinder", If{known, OrNull{&Surroundings::unwinder}}},
        });
};

// `recorded`: the info of this name, words of what only newer tracers record: "contexts".
bool records(std::string_view recorded, std::string_view what);

struct Process {
    std::uint32_t pid = 0;
    std::uint32_t parent_pid = 0;
    std::string program;
    std::string command;
    std::filesystem::path log;
    std::string started;           // real time, UTC: 2026-11-21T04:00:00Z; empty if not known
    std::uint64_t started_ns = 0;  // the same, of CLOCK_REALTIME
    std::uint64_t duration_ns = 0; // from the log's opening to its last event
    ProcessEnd end;
    std::vector<std::pair<std::string, std::string>> info; // Info records, in order
    std::vector<DeviceInfo> devices;
    std::vector<FrameworkUse> frameworks;
    AutogradNodes nodes;
    std::vector<Mark> marks;        // in order of time, at most kMostMarks
    std::uint64_t mark_count = 0;   // all marks, kept or not
    std::vector<RuleOutcome> rules; // of those that were asked for, in their order
    std::vector<TestRow> tests;     // in order of time, at most Tests::kMostTests
    std::uint64_t test_count = 0;   // all tests that began, kept or not
    std::string step_name;          // a range or mark that growth is told per; empty: per call
    std::uint64_t step_count = 0;
    Totals totals;
    // Allocations and frees of the driver's memory, as the program asked for it: not the blocks
    // that an allocator of its own cut, but what it cut them from.
    std::uint64_t requests = 0;
    PoolReport pool;
    std::vector<AllocatorMap> allocator_maps; // only where a page is wanted
    ChurnReport churn;
    std::vector<SiteSums> sites;      // only where a table of them is wanted
    std::vector<MemoryReport> memory; // sorted by ordinal: devices of which anything is known
    Compositions host; // of host memory along the run; empty unless they were asked for
    std::vector<ObjectTotal> objects;      // a row for each kind that there was
    std::uint64_t known_objects = 0;       // of those that are alive, by rules of suppression
    std::uint64_t context_devices = 0;     // on which it had contexts
    bool has_context_of_no_device = false; // … and there is one more, on which is not known
    std::uint64_t shortage_count = 0;   // allocations that failed for want of memory, all of them
    std::optional<MemorySearch> search; // the last one for what holds its blocks
    Coverage coverage;
    std::uint32_t threads = 0;           // that are in the log
    std::vector<std::string> crashed_in; // frees that it was inside of when it crashed
    std::optional<TimedCall> last_seen;  // the last call that allocated, where it crashed elsewhere
    std::vector<std::string> doubts;     // why its list of leaks may not be the whole truth

    // Value of an Info record, "" if there is none.
    std::string info_value(std::string_view key) const;
    bool records(std::string_view what) const;
    // Those of which a process has one; of the others it may have several, which are elsewhere.
    std::vector<std::pair<std::string, std::string>> single_info() const;
    Surroundings seen() const { return {&coverage, this}; }
    bool has_steps() const { return !step_name.empty(); }
    bool is_last_seen() const { return last_seen.has_value(); }
    const TimedCall& seen_last() const { return *last_seen; }
    bool has_search() const { return search.has_value(); }
    const MemorySearch& last_search() const { return *search; }
    bool has_nodes() const { return nodes.made() > 0; }
    bool has_tests() const { return test_count > 0; }
};
template <>
struct Fields<Process> {
    static constexpr const char* kName = "process";
    static constexpr FieldList kAll{
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
        Field{"last_seen", If{&Process::is_last_seen, &Process::seen_last},
              "Where it allocated last. Only of one that crashed, and not inside a call that is "
              "recorded."}
            .since(6),
        Field{"memory_search", If{&Process::has_search, &Process::last_search},
              "For what holds the blocks that were alive; missing where none was made."}
            .since(6),
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
        Field{"objects", IfAny{&Process::objects},
              "Of each kind of the driver's objects, how many; missing where there were none."}
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

} // namespace vramscope::report
