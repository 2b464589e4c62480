// report/findings/findings.hpp — the rows of one log, out of what was replayed of it.
//
// A function for each kind of row; its file has the kind's name. What takes several rows to find
// has a class and a header of its own (growth/, LeakSums); devices are in memory/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/report.hpp"
#include "report/replay/allocators.hpp"
#include "report/replay/churn.hpp"
#include "report/replay/damage.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/misuse.hpp"
#include "report/replay/pool/segment_replay.hpp"
#include "report/replay/shortages.hpp"
#include "report/replay/steps.hpp"

namespace vramscope::report {

class Contexts;
class GrowthTable;
class PeakHolders;
class Searches;
class SitePeaks;

// What was never freed, one row per call stack. Blocks are one row when process, kind of leak, API,
// memory, device and visible frames agree: a reader fixes a line, not an address. Rows are sorted
// by bytes, the largest first; equal input gives equal order. `lost` and `growth` are of the same
// HeapReplay. Without `growth` no row gets a class.
LostRows find_leaks(const std::vector<LostBlocks>& lost, const LeakSource& source,
                    const GrowthTable* growth = nullptr);

// More call stacks than these are no rows of their own: nobody reads so many, and each takes some
// KiB. Those that lost the most bytes are listed, the others are one row. Returns how many those
// are.
inline constexpr std::size_t kMostListed = 5'000;
std::size_t list_largest(const std::vector<LostBlocks>& lost, StackReader& stacks);

// The call stacks that held the most until the end of the work. `freed`: what the end gave back.
std::vector<Leak> find_held(std::vector<SiteShare> freed, const Sites& sites,
                            const LeakSource& source, const GrowthTable& growth);

// Puts what a search of the memory found to the rows of the same places. A row has at most
// kMostReachGroups.
void add_reach(std::vector<Leak>& leaks, const Searches& searches, const LeakSource& source);
std::optional<MemorySearch> sum_up_search(const Searches& searches, const TickClock& clock);

// It looks at times and at the number of blocks, so it works for sums of leaks too.
Pattern pattern_of(const Leak& leak, std::uint64_t duration_ns);

// Libraries whose own memory grows, out of the rows of one log: the fastest comes first in both.
std::vector<Workspace> find_workspaces(const std::vector<Growth>& growing);

// Frees that were wrong, and all other calls that the driver refused. Calls are one row when
// process, kind and all their visible stacks agree. What cannot be proven from the log is no row of
// the first: a free that was refused of a block that was there is a failed call. Both give rows in
// the order of their first calls.
std::vector<Misuse> find_misuse(const std::vector<LoggedMisuse>& logged, const CallSource& source);
std::vector<FailedCall> find_failed_calls(const std::vector<FailedGroup>& groups,
                                          const CallSource& source);

// "cudaFree of 0x7f0000000000, allocated at main (a.cpp:12), first freed at …": what a free that
// never came back was.
std::string describe_free(const LoggedMisuse& free, const CallSource& source);

// Memory that was written while it was free, or beyond a block. Each row has the stacks of the
// allocation, of the free, and of the moment at which the pool noticed; cases are one row when
// process, kind and the visible stacks agree. In the order of their first moments.
std::vector<Damage> find_damage(const std::vector<LoggedDamage>& logged, const CallSource& source);

// Allocations that failed for want of memory: how the device's memory stood, which call stacks held
// it, and why it was not enough. `mapped`: with the segments then, and the owners of their blocks.
std::vector<Shortage> find_shortages(std::vector<LoggedShortage> logged, bool pooled, bool mapped,
                                     const LeakSource& source);

// What allocating costs a process: how often it allocates, how long that takes in the driver, and
// where it gives memory back that it could have kept.
ChurnReport describe_churn(const ChurnCounts& counts, const Sites& sites, const LogTables& tables,
                           const TickClock& clock, StackReader& stacks);

// Of each site, what it had when the most was allocated on its device.
std::vector<std::uint64_t> bytes_at_peaks(const PeakHolders& holders, std::size_t sites);

// Every call place of the log that allocated memory of the program's own, in an order that equal
// logs have alike. What leaks and grows of them is added once the report has it.
std::vector<SiteSums> sum_up_sites(const Sites& sites, const SitePeaks& peaks,
                                   const PeakHolders& holders, StackReader& stacks);
void add_findings_to_sites(Report& report);

// Objects of the driver's by call stack: what piles up first, then what is left; and how many there
// were of each kind. `growth` is of the same HeapReplay.
std::vector<ObjectRow> find_objects(const Sites& sites, const TakenByDriver& taken,
                                    const LeakSource& source, const GrowthTable& growth);
std::vector<ObjectTotal> sum_up_objects(const Sites& sites);

// The contexts of a log, in the order in which they were first known.
std::vector<ContextRow> find_contexts(const Contexts& contexts, const HeapReplay& heap,
                                      const LogTables& tables, const CallSource& source);
void count_devices(Process& process, const std::vector<ContextRow>& contexts);

// What the internal pool held. `stacks`: reads the owners of the maps' blocks; nullptr: they are
// not wanted.
PoolReport describe_pool(const SegmentReplay& replay, const DeviceMemory& memory,
                         const LogTables& tables, const TickClock& clock, std::uint64_t end_ns,
                         StackReader* stacks);

// The program's own allocators as `heap` has them now, which is the log's end.
std::vector<AllocatorMap> describe_allocators(HeapReplay& heap, const DeviceMemory& memory,
                                              std::uint64_t end_ns, StackReader& stacks);

// Whether buffers of frameworks are seen one by one. Those that the process used, when the log has
// been replayed: PyTorch, those of tracker/format/frameworks.hpp, and heaps that told of blocks.
std::vector<FrameworkUse> find_frameworks(const LogTables& tables);

// The numbers of one process, out of what was read and found.
Coverage coverage_of(const ReplayCounts& counts, const LogTables& tables, const LogReader& reader,
                     const format::FileHeader& header, bool running);

// What is known before any rule of suppression: calls, peaks, and rows that no rule is about.
Totals totals_of(const ReplayCounts& counts, const LostRows& rows);

// Adds what leaked to the totals of each process, once the known leaks have a list of their own.
void count_leaks(Report& report);

// Functions of memory that the tracer did not know: their names from a log's info records, sorted,
// each once; with @version where cuGetProcAddress was asked for them.
std::vector<std::string>
newer_functions(const std::vector<std::pair<std::string, std::string>>& info);

// What that means, in a line; empty if there are none. `more`: there were others, which the tracer
// had no room for.
std::string newer_functions_notice(const std::vector<std::string>& names, bool more);

// "allocator of JAX bypassed by XLA_PYTHON_CLIENT_ALLOCATOR=platform: ..."; empty: its allocator
// told of its blocks, or had none.
std::string notice_about(const FrameworkUse& use);

// What is to be known of a process beside its rows, a line each. They change no verdict.
std::vector<std::string> notices_about(const Process& process, const HeapReplay& replay,
                                       const LogReader& reader);

// That no row of the report names a line, and how they would; empty: one does, or the files with
// the lines are not here, which report.unread_files tells.
std::string no_lines_notice(const Report& report);

// That growth is not told per range or mark of this name: no such name is known.
std::string unknown_step(const std::string& wanted, const Steps& steps);
// That it is not, as there are too few of them.
// That logs of several jobs were read together; empty: they are of one, as far as they say.
std::string several_jobs_notice(const Report& report);
std::string few_steps(const std::string& wanted, std::uint64_t count);

} // namespace vramscope::report
