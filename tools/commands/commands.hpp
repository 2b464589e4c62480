// tools/commands/commands.hpp — the subcommands: what each was asked, and the function that does
// it.
//
// Each returns the exit status. What went wrong before that is a report::Error, caught once in
// main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "report/text/views.hpp"
#include "tools/options/budget.hpp"
#include "tools/options/suppression_options.hpp"

namespace vramscope {

struct RunOptions {
    std::string simulate;              // "24GiB", "2x80GiB"; empty: whatever driver there is
    std::string log;                   // pattern; empty: VRAMSCOPE_LOG, or the default name
    std::string json;                  // empty: none; "-": stdout
    std::string pool;                  // of VRAMSCOPE_POOL; empty: as the environment has it
    std::vector<std::string> settings; // NAME=VALUE
    bool force = false;                // overwrite what `log` and `json` name
    bool audit = false;                // the door for libraries opened with RTLD_DEEPBIND
    SuppressionOptions suppressions;
    bool check = false; // end as `check` would, if the program itself does not fail
    BudgetOptions budget;
    std::vector<std::string> command;
};
int run_command(const RunOptions& options);

struct ViewOptions {
    void (*write)(std::ostream&, const report::Report&, const report::TextStyle&) = nullptr;
    std::vector<std::string> logs; // files, or folders of *.vsl
    std::string json;
    bool force = false; // overwrite what `json` names
    std::string per;    // what growth is told per; empty: what suits the log
    bool all_frames = false;
    SuppressionOptions suppressions;
};
int view_command(const ViewOptions& options);

struct ExportCommandOptions {
    std::vector<std::string> logs; // exactly one, or a folder of one
    std::string format;
    std::string output = "-";  // stdout
    bool force = false;        // overwrite what `output` names
    std::optional<int> device; // none: all
    bool all_frames = false;
};
int export_command(const ExportCommandOptions& options);
int schema_command(const std::string& name);

struct MarkOptions {
    pid_t pid = 0;
    std::string name;
};
int mark_command(const MarkOptions& options);

struct SnapshotOptions {
    pid_t pid = 0;
    std::string json;
    std::string copy;   // of the log, as it is now; empty: none
    bool force = false; // overwrite what `json` and `copy` name
    bool all_frames = false;
};
int snapshot_command(const SnapshotOptions& options);

struct TopOptions {
    std::optional<pid_t> pid; // none: all of this user
    double interval = 1;      // seconds between two looks
    std::uint64_t count = 0;  // looks; 0: until it is told to end
    bool once = false;
};
int top_command(const TopOptions& options);

struct DoctorOptions {
    std::string target; // a program, or a log; empty: only the installation and the driver
    std::string simulate;
};
int doctor_command(const DoctorOptions& options);

} // namespace vramscope
