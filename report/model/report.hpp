// report/model/report.hpp — what the logs of one run say, ready to be printed.
//
// This folder has the rows of a report and nothing else: no function of a stage, and no header but
// those of the log's format. Whatever is printed is here.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
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
#include "tracker/format/layout.hpp"

namespace vramscope::report {

struct MemoryTotal {
    format::Memory memory = format::Memory::none;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
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
};

struct DeviceInfo {
    std::int32_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::string name;
};

// A named moment: NVTX marks and vramscope_point of the program, or `vramscope mark` from outside.
struct Mark {
    std::uint64_t ns = 0; // since the log was opened
    std::string name;
    std::uint32_t tid = 0; // the program's thread; 0: set by `vramscope mark`
};

// Nodes of PyTorch's autograd, by whether it is known which functions of Python made them.
struct AutogradNodes {
    std::uint64_t with_origin = 0;
    std::uint64_t without_origin = 0;

    std::uint64_t made() const noexcept { return with_origin + without_origin; }
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
    std::vector<Growth> growth; // what grows to the end, freed at exit or not; the fastest first
    // Process by process, in order of time: of each, the first few and the last few.
    std::vector<Shortage> shortages;
    Totals totals; // sums; of peaks, the largest of any process
    Coverage coverage;
    Ranks ranks; // the processes side by side
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
