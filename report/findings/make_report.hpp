// report/findings/make_report.hpp — from log files to one report: read, replay, symbolize, judge.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/findings/places/suppressions.hpp"
#include "report/model/report.hpp"
#include "report/rules/rule.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

class Searches;

// make_report() throws Error (bad_input) for a file that is no readable log; a log that is cut,
// damaged or still being written gives a report that says so. A second thread reads ahead while it
// runs; callbacks come on the caller's.

struct Options {
    // Keep the frames of vramscope, the CUDA runtime, libraries and the C start-up code.
    bool all_frames = false;
    // For the log of a running program: a moment before this call, in the log's ticks. Only what
    // had happened by then is read. See LogReader::hold_back().
    std::uint64_t until_ticks = UINT64_MAX;
    // Only what happened in so long a time after each log's start is read. Empty: all.
    std::optional<std::uint64_t> until_ns;
    // Of what was not freed, only blocks that were allocated so long after the log's start, or
    // later, are listed and summed up; all else stays that of the whole run. Empty: all.
    std::optional<std::uint64_t> from_ns;
    // What growth is told per: a range's or a mark's name; empty: what suits the log best.
    std::string per;
    // What pages show and texts do not: what memory was made of over time, and who owns the blocks
    // of maps.
    bool for_page = false;
    bool all_sites = false;                        // fills in Process::sites
    std::function<void(double fraction)> progress; // called now and then, 0 to 1; may be empty
    // Asked now and then; may be empty. True ends the reading: the report has what was read so far.
    std::function<bool()> interrupted;
    SymbolizerOptions symbols;
    Symbolizer* symbolizer = nullptr; // made with `symbols`: one that several reports share
    Suppressions suppressions;        // none
    // Of a running program: the log is read from its checkpoint there, and leaves one. Null: it is
    // read from its beginning, as it is for pages, for all sites and since a moment.
    CheckpointStore* checkpoints = nullptr;
    Rules rules; // none: see Process::rules
    // Of a running program: what a search of its memory found that its log does not have. Null: the
    // log's own search counts.
    const Searches* search = nullptr;
};

Report make_report(const std::vector<std::filesystem::path>& logs, const Options& options = {});

std::string utc(std::uint64_t real_ns); // 2026-11-21T04:00:00Z; empty for 0

} // namespace vramscope::report
