// tools/commands/run_options.hpp — what `vramscope run` can be told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "report/rules/rule.hpp"
#include "tools/options/budget.hpp"
#include "tools/options/ci_format_options.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/watch/watch_options.hpp"

namespace vramscope {

extern const char* const kRunFooter; // examples, for the help

struct RunOptions {
    std::string simulate;              // "24GiB", "2x80GiB"; empty: whatever driver there is
    std::string log;                   // pattern; empty: VRAMSCOPE_LOG, or the default name
    bool logs_stay = true;             // else they are for the caller alone, who removes them
    OutputOptions output;              // its force is for the log too
    std::string reduced;               // a folder for tables; empty: none
    std::string pool;                  // for VRAMSCOPE_POOL; empty: as in the environment
    std::vector<std::string> settings; // NAME=VALUE
    bool audit = false;                // the door for libraries opened with RTLD_DEEPBIND
    bool inside = false;               // switch off allocators of frameworks
    std::string bounded;               // a size; empty: logs are not collected
    bool reach = false;                // search its memory when its work is done
    SuppressionOptions suppressions;
    SymbolOptions symbols;
    bool no_cache = false; // of names, with `reduced`
    SourceOptions sources;
    bool check = false; // end as `check` would, if the program itself does not fail
    BudgetOptions budget;
    CiFormatOptions ci_formats;
    WatchOptions watch;
    std::vector<std::string> command;
};

// `options` must outlive the parsing.
void add_run_options(CLI::App& command, RunOptions& options);

// Of what the disk may have; none: it is not bounded. Error (125) if it is no size, or if the rules
// or a setting need what a bounded log does not keep.
std::optional<std::uint64_t> read_bound(const RunOptions& options, const report::Rules& rules);

// Throws Error (usage) unless --simulate takes it.
void check_simulated_devices(const std::string& spec);

// What the command does, with a program to run. Returns the exit status.
int run_program(const RunOptions& options);

} // namespace vramscope
