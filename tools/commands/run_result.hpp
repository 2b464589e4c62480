// tools/commands/run_result.hpp — what the logs of a run say, once its program has ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "report/findings/places/suppressions.hpp"
#include "report/judge/judge.hpp"
#include "report/page/page.hpp"
#include "report/rules/rule.hpp"
#include "report/symbols/symbolizer.hpp"
#include "tools/options/ci_format_options.hpp"
#include "tools/options/output_options.hpp"
#include "tools/output/output_file.hpp"
#include "tools/process/driver_probe.hpp"
#include "tools/process/installation.hpp"
#include "tools/process/live/left_running.hpp"
#include "tools/process/live/run_file.hpp"
#include "tools/process/program_file.hpp"
#include "tools/watch/watch_options.hpp"

namespace vramscope {

struct EndedRun {
    const ProgramFile& program;
    const std::string& simulate; // the value of --simulate
    const Installation& installation;
    const RunFile& file;
    DriverFacts driver; // where it is; nothing if one is simulated
    EndedProgram process;
    int wait_status; // as waitpid gives it
    bool reach;      // what leaked was to be searched for (--reach)
};

// What a run is judged by; read before the program starts.
struct Judgement {
    report::Suppressions suppressions;
    report::SymbolizerOptions symbols;
    report::PageSources sources;          // of its page
    std::optional<report::Budget> budget; // set by --check
    report::Rules rules;
};

// Where the report and the check are written.
struct RunOutputs {
    Output json;
    Output html;
    WatchPlan watch; // its metrics are written while the program runs
    const OutputOptions& options;
    CiFormatFiles ci_formats;      // written with --check alone
    std::filesystem::path reduced; // a folder for the table of each log; empty: none are wanted
    bool logs_stay = true;         // else nobody is told of them

    // Empty: none is wanted.
    std::filesystem::path table_of(const std::filesystem::path& log) const
    {
        return reduced.empty() ? reduced : reduced / (log.filename().string() + ".jsonl");
    }
    bool wanted() const { return json.wanted() || html.wanted() || !reduced.empty(); }
    void keep_off(const std::filesystem::path& taken) const
    {
        json.keep_off(taken);
        html.keep_off(taken);
        watch.metrics.keep_off(taken);
        ci_formats.keep_off(taken);
    }
};

// Says it on stderr, and writes `outputs`. Returns the exit status of --check, or 0.
int tell_what_was_seen(const EndedRun& run, const Judgement& judgement, const RunOutputs& outputs);

} // namespace vramscope
