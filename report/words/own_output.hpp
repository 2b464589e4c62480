// report/words/own_output.hpp — how a file that we wrote is told from one that somebody needs.
#pragma once

#include <cstddef>
#include <string_view>

namespace vramscope::report {

// The page and the heaptrack, JUnit and sanitizer files have it in a comment, and the pprof file in
// the comment of its gzip header.
inline constexpr std::string_view kOwnMark = "written by vramscope";

// The beginnings of files whose formats have no comments.
inline constexpr std::string_view kOwnJsonHead = R"({"exporter":"vramscope",)";
// An empty list, which JSON lets nobody sign, but for the white space in it.
inline constexpr std::string_view kOwnEmptyList = "[ \t \t\t \t  \t ]\n";
inline constexpr std::string_view kOwnFoldedHead = "vramscope: ";
inline constexpr std::string_view kOwnTimelineHead = "time_ns,device,allocated_bytes,";
inline constexpr std::string_view kOwnBlocksHead = "allocated_ns,freed_ns,end,";
inline constexpr std::string_view kOwnMetricsHead = "# HELP vramscope_";
// Tables (job/tables.hpp): the application_id of a database, and how CSV files begin.
inline constexpr std::string_view kOwnDatabase = "vrms";
inline constexpr std::string_view kOwnTableHeads[] = {"tables_version\n",
                                                      "process,log,pid,program,command,",
                                                      "process,finding\n",
                                                      "process,doubt\n",
                                                      "process,device,name,uuid,",
                                                      "process,device,ns,peak_allocated_bytes,",
                                                      "process,frame,caller,function,",
                                                      "process,site,fingerprint,frame,",
                                                      "process,site,address,bytes,begin_ns,"};

inline constexpr std::size_t kOwnHeadBytes = 256; // enough of a file's beginning to tell

// Whether a file that begins like this is one that --json, --html, `check` or `export` wrote. Logs
// and suppression files are not: those are kept and edited.
bool is_own_output(std::string_view head) noexcept;

} // namespace vramscope::report
