// tools/commands/snapshot.cpp — what a running program holds right now, from its log alone.
#include <memory>
#include <optional>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "report/error.hpp"
#include "report/page/page.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/search_memory.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/results.hpp"
#include "tools/process/live/checkpoint_cache.hpp"
#include "tools/process/live/live_process.hpp"
#include "tools/process/live/log_snapshot.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {
namespace {

constexpr const char* kSnapshotFooter =
    R"(Reads the log that the program is writing; the program is neither stopped nor signalled. What it shows is held now,
and perhaps no leak: the program may free it later. --reach searches the program's memory too, for what leads to each
block: a variable, a stack, a heap block. It takes what a debugger may do; with --stop the program's threads stand still
meanwhile, and what nothing leads to is called lost.

Ends 0; 110 if there is no such process, it is not traced, has made no CUDA call yet, has ended, is not yours, or with
--reach may not be read; 125 for wrong usage, or if a file cannot be written.

Examples:
  vramscope snapshot 4711                      what does it hold, and where from?
  vramscope snapshot 4711 -o now.vsl           and a copy of its log, for later: vramscope report now.vsl
  vramscope snapshot --reach 4711              and what holds each block? (`reach` has that alone)
  vramscope snapshot 4711 --sysroot /proc/4711/root    a program in a container
  vramscope snapshot 4711 --html now.html      a page to look at: who sits where, and what grew up to now
  vramscope snapshot 4711 --json - | jq '.totals.leaked_bytes'
)";

struct SnapshotOptions {
    pid_t pid = 0;
    OutputOptions output; // its force is for the copy too
    std::string copy;     // where a copy of the log goes; empty if none is wanted
    bool reach = false;   // search the program's memory
    bool stop = false;    // while its threads stand still
    bool all_frames = false;
    SymbolOptions symbols;
    SourceOptions sources;
};

report::LogFile log_of(const LiveProcess& process)
{
    return report::LogFile::open(process.door, report::LogFile::Collected::taken);
}

int take_snapshot(const SnapshotOptions& options)
{
    if (options.stop && !options.reach)
        throw CLI::ValidationError("--stop", "is for a search of the memory: --reach");
    report::Options reading;
    reading.symbols = read_symbol_options(options.symbols);
    const report::PageSources sources = read_source_options(options.sources, reading.symbols);
    const LiveProcess process = find_live_process(options.pid);
    const Output copy(options.copy, {process.door}, options.output.force, Output::Keep::every_file);
    const Output json(options.output.json, {process.door, options.copy}, options.output.force);
    const Output html = page_output(options.output, {process.door, options.copy});
    CheckpointCache cache;
    const std::optional<MemorySearched> search =
        options.reach ? std::optional(search_memory(process, options.stop, &cache)) : std::nullopt;
    const std::uint64_t ticks =
        search ? search->ticks : capture::read_ticks(log_of(process).header().clock);
    if (copy.wanted())
        write_snapshot(copy, process.door, ticks, [&search](int descriptor) {
            return !search || write_search(descriptor, *search);
        });
    const report::Searches found =
        search ? search->found.as_of_a_log(search->ticks) : report::Searches();
    reading.search = search ? &found : nullptr;
    reading.all_frames = options.all_frames;
    reading.until_ticks = ticks;
    reading.for_page = html.wanted();
    reading.checkpoints = &cache;
    reading.progress = progress_bar();
    report::Report report = report::make_report({process.door}, reading);
    report.processes.front().log = options.copy.empty() ? process.name.string() : options.copy;
    if (html.wanted())
        write_page(html, report::page_of(report, "snapshot", {}, sources), options.output);
    write_found(json, options.output, json_of(report, options.output.pool_blocks),
                [&](std::ostream& out) {
                    report::write_snapshot(out, report, style_for(STDOUT_FILENO));
                    if (copy.wanted())
                        out << "\nNext: vramscope report "
                            << report::terminal_safe(report::shell_quoted(options.copy)) << '\n';
                });
    return 0;
}

} // namespace

void add_snapshot(CommandLine& line)
{
    const auto options = std::make_shared<SnapshotOptions>();
    CLI::App& command = line.add("snapshot", "what a running program holds right now",
                                 kSnapshotFooter, take_snapshot, options);
    take_only_positive(
        command.add_option("PID", options->pid, "a process that runs under vramscope")->required());
    add_json_options(command, options->output, "the report",
                     "overwrite the copy, and any file of --json and --html");
    add_pool_blocks_option(command, options->output);
    add_html_options(command, options->output);
    add_source_options(command, options->sources);
    command.add_option("-o,--output", options->copy, "keep a copy of the log as it is now")
        ->option_text("COPY");
    command.add_flag("--reach", options->reach, "search its memory for what holds each block");
    command.add_flag("--stop", options->stop,
                     "let its threads stand still while its memory is searched");
    add_all_frames_option(command, options->all_frames);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
