// tools/commands/run.cpp — run a program with the tracer in it, and say what it leaked.
//
// Whatever goes wrong after the program was started is reported but does not change its exit
// status, unless the program itself did not fail and what --check or --json asked for is not there.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/job_files.hpp"
#include "tools/commands/run_result.hpp"
#include "tools/commands/search_memory.hpp"
#include "tools/options/budget.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/settings.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/interrupt.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/diagnosis.hpp"
#include "tools/process/inside.hpp"
#include "tools/process/live/bounded_logs.hpp"
#include "tools/process/log_place.hpp"
#include "tools/process/traced_environment.hpp"
#include "tools/process/traced_process.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/watch/watch.hpp"
#include "tools/watch/watch_options.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope {
namespace {

constexpr const char* kRunFooter =
    R"(Everything after PROGRAM belongs to the program. `run` ends as the program ended: its exit status, 128+n if signal
n killed it, 127 if there is no such program, 126 if it cannot be executed; 125 for wrong usage or a fault of ours,
also if the program ended 0 and a file that was asked for could not be written after all.
With --check and a program that ends 0, it ends as `vramscope check` would: 0, 100, 110 or 111.

Examples:
  vramscope run ./train --epochs 2
  vramscope run -o logs/train.%p.vsl -- ./train
  vramscope run --simulate 2x80GiB ./train     two simulated GPUs of 80 GiB; needs no driver
  vramscope run --json leaks.json ./train      and a report for machines
  vramscope run --html train.html ./train      and a page to look at in a browser
  vramscope run --check --max-peak 8GiB ./train
  vramscope run --check --sarif leaks.sarif --github ./train
  vramscope run python3 train.py               which can `import vramscope`: ranges, marks, the pool's numbers
  vramscope run --inside python3 train.py      and its arrays of JAX, TensorFlow, cuDF or CuPy are told one by one
  vramscope run --reach ./train                and what holds each block that leaked: a variable, a list, nothing
  vramscope run --metrics server.prom --on growth ./tell-us ./server    numbers for Prometheus while it runs
  vramscope run --bounded 64MiB ./server       for weeks: its log stays small, as with `vramscope collect`
  vramscope run --pool cache ./train           keep freed memory, and hand it out again
  vramscope run --pool split --set guard=on --set limit=8GiB ./train
)";

struct RunOptions {
    std::string simulate;              // "24GiB", "2x80GiB"; empty: whatever driver there is
    std::string log;                   // pattern; empty: VRAMSCOPE_LOG, or the default name
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

void check_simulate(const RunOptions& options, const Installation& installation)
{
    if (options.simulate.empty())
        return;
    if (!simgpu::parse_devices(options.simulate))
        throw report::Error(report::Exit::usage,
                            fmt::format("--simulate '{}': write a size from 16MiB to 2TiB, with up "
                                        "to 16 devices: 24GiB or 2x80GiB",
                                        options.simulate));
    if (installation.simgpu.empty())
        throw report::Error(report::Exit::usage,
                            fmt::format("the simulated GPU is not installed near {}",
                                        installation.executable.string()));
}

// It is made where it is missing: all ranks of a job name the same one.
void check_folder_of_tables(const std::string& folder)
{
    if (folder.empty())
        return;
    std::error_code problem;
    std::filesystem::create_directory(folder, problem);
    if (!std::filesystem::is_directory(folder) || ::access(folder.c_str(), W_OK | X_OK) != 0)
        throw report::Error(
            report::Exit::usage,
            fmt::format("--reduced {}: {}", folder,
                        problem ? problem.message() : "is no folder that can be written to"));
}

// The parts that this run asks for, or an Error. A program of musl would die of a library that its
// loader cannot load: it runs without, and untraced.
Installation parts_for(const RunOptions& options, const ProgramFile& program)
{
    Installation parts = find_installation();
    required_preload(parts);
    if (options.audit && parts.audit.empty())
        throw report::Error(report::Exit::usage,
                            fmt::format("--audit: libvramscope-audit.so is not installed near {}",
                                        parts.executable.string()));
    if (options.reach && parts.ending.empty())
        throw report::Error(report::Exit::usage,
                            fmt::format("--reach: libvramscope-ending.so is not installed near {}",
                                        parts.executable.string()));
    if (!runs_on_musl(program))
        return parts;
    for (const std::string& line : obstacles(program))
        warn(line + ". It runs untraced");
    parts.preload.clear();
    return parts;
}

// Of what the disk may have; none: it is not bounded. What a collected log cannot tell is refused
// before the program runs.
std::optional<std::uint64_t> read_bound(const RunOptions& options)
{
    constexpr std::uint64_t kLeast = 4 << 20;
    if (options.bounded.empty())
        return std::nullopt;
    const std::optional<std::uint64_t> bytes = format::read_size(options.bounded);
    if (!bytes || *bytes < kLeast)
        throw report::Error(report::Exit::usage,
                            fmt::format("--bounded '{}': write a size from 4MiB on: 64MiB, 1GiB",
                                        options.bounded.substr(0, 80)));
    const std::pair<const char*, bool> needs_events[] = {
        {"--html", !options.output.html.empty()},
        {"--reach", options.reach},
        {"--rules", !options.budget.rules.empty()},
        {"--forbid", !options.budget.forbid.empty()}};
    for (const auto& [option, given] : needs_events)
        if (given)
            throw report::Error(report::Exit::usage,
                                fmt::format("--bounded keeps sums in the place of older events, "
                                            "and {} needs each of them: give one of both",
                                            option));
    return bytes;
}

std::vector<std::filesystem::path> inputs_of(const RunOptions& options, const ProgramFile& program)
{
    return inputs({program.path}, options.suppressions, files_of(options.budget));
}

std::string wanted_log(const RunOptions& options)
{
    const char* const set = std::getenv("VRAMSCOPE_LOG");
    if (options.log.empty() && set && *set)
        return set;
    return options.log.empty() ? kDefaultLog : options.log;
}

// Everything that can be known to fail is found before the program runs.
std::string prepare(const RunOptions& options, const ProgramFile& program,
                    const RunOutputs& outputs, const Installation& installation,
                    const RunFile& run_file, const std::string& ending)
{
    try {
        const std::string pattern = absolute_pattern(wanted_log(options));
        const std::string log = expand_pattern(pattern, options.command.front(), ::getpid());
        check_folder(log);
        if (!options.bounded.empty())
            check_that_logs_can_be_collected(std::filesystem::path(log).parent_path());
        Output::keep_apart(log, inputs_of(options, program));
        outputs.keep_off(log);
        // A default name that is taken gets a number after it instead. Nothing is overwritten for
        // a program that will not start.
        if (!options.log.empty() && program.executable)
            make_way(log, options.output.force);
        detail(fmt::format("starts {} with {}, its log is {}", options.command.front(),
                           installation.preload.string(), pattern));
        enter({installation, options.audit, options.inside, options.simulate, pattern,
               run_file.variable(), ending, chosen_settings(options.settings, options.pool)});
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

Judgement read_judgement(const RunOptions& options)
{
    report::SymbolizerOptions symbols = read_symbol_options(options.symbols);
    if (!options.reduced.empty())
        symbols.names = names_kept(options.no_cache);
    report::PageSources sources =
        read_source_options(options.sources, symbols, options.ci_formats.source_root);
    Judgement judgement{read_suppressions(options.suppressions),
                        std::move(symbols),
                        std::move(sources),
                        std::nullopt,
                        {}};
    if (options.check)
        judgement.budget = read_budget(options.budget);
    judgement.rules = read_rules(options.budget);
    return judgement;
}

int refuse_to_run(const std::string& name, const ProgramFile& program, int error)
{
    const bool missing_interpreter = error == ENOENT && !program.path.empty();
    fail(fmt::format("cannot run {}: {}", name,
                     missing_interpreter ? "the interpreter or loader that it names is missing"
                                         : std::strerror(error)));
    return error == ENOENT ? 127 : 126;
}

int run_program(const RunOptions& options)
{
    if (options.command.empty())
        throw CLI::RequiredError("PROGRAM");
    survive_failed_writes();
    const ProgramFile file = inspect_program(options.command.front());
    const Installation installation = parts_for(options, file);
    check_simulate(options, installation);
    const std::optional<std::uint64_t> bound = read_bound(options);
    const Judgement judgement = read_judgement(options);
    std::vector<std::filesystem::path> taken = inputs_of(options, file);
    Output json(options.output.json, taken, options.output.force);
    Output html = page_output(options.output, taken);
    if (html.wanted())
        taken.emplace_back(options.output.html);
    check_folder_of_tables(options.reduced);
    const RunOutputs outputs{
        std::move(json), std::move(html), options.output,
        CiFormatFiles(options.ci_formats, taken, options.output.json, options.output.force),
        options.reduced};
    const RunFile run_file;
    if (options.inside)
        for (const std::string& line : switches_that_stay())
            warn(fmt::format("--inside: {} is set, and stays", line));
    const WatchPlan watch_plan = read_watch_options(options.watch, options.command.front(), taken,
                                                    options.output.force, judgement.symbols);

    std::optional<SearchesAtEnd> searches;
    if (options.reach)
        searches.emplace();
    const std::string ending = searches ? searches->socket() : "";
    std::optional<RunWatch> watch; // begun last: it has what we have open
    if (options.watch.wanted())
        watch.emplace(watch_plan, run_file);
    const auto started = std::chrono::steady_clock::now();
    TracedProcess program(options.command, [&] {
        return prepare(options, file, outputs, installation, run_file, ending);
    });
    if (program.exec_error() != 0)
        return refuse_to_run(options.command.front(), file, program.exec_error());
    // What is only asked of a run without events takes no time from it in this place.
    const DriverFacts driver = find_driver(options.simulate, Ask::where);
    std::optional<BoundedLogs> bounded;
    if (bound)
        bounded.emplace(run_file, *bound);
    const int wait_status = program.wait();
    bounded.reset();
    detail(fmt::format("{} has ended", options.command.front()));
    watch.reset();
    const Interrupt interrupt(program.signals_seen());
    program.let_signals_through();
    int judged = 0;
    bool told = false;
    try {
        judged = tell_what_was_seen({file,
                                     options.simulate,
                                     installation,
                                     run_file,
                                     driver,
                                     {program.pid(), started},
                                     wait_status},
                                    judgement, outputs);
        told = true;
    } catch (const report::Error& error) {
        fail(error.what());
        judged = static_cast<int>(error.exit());
    } catch (const std::exception& error) {
        fail(error.what());
        judged = static_cast<int>(report::Exit::usage);
    }
    const int own = exit_status_of(wait_status);
    const bool asked_for = options.check || (outputs.wanted() && !told);
    return own == 0 && asked_for ? judged : own;
}

} // namespace

// A parser with all of its options is half of what this command does before the program starts.
std::optional<int> run_without_options(const std::vector<std::string>& arguments)
{
    if (arguments.size() < 2 || arguments[0] != "run")
        return std::nullopt;
    const bool dashes = arguments[1] == "--" && arguments.size() > 2;
    if (!dashes && arguments[1].starts_with('-'))
        return std::nullopt;
    RunOptions options;
    options.command = {arguments.begin() + (dashes ? 2 : 1), arguments.end()};
    return run_program(options);
}

void add_run(CommandLine& line)
{
    const auto options = std::make_shared<RunOptions>();
    CLI::App& command =
        line.add("run", "run a program and record its GPU memory",
                 std::string(kRunFooter) + kWatchHelp + inside_help() + settings_help(),
                 run_program, options);
    line.take_rest_by([options, &command](std::vector<std::string>& arguments) {
        options->command = take_program(command, arguments);
    });
    command.add_option("PROGRAM", options->command,
                       // Only for the help text: take_program reads it.
                       "the program to trace, and its arguments (after -- if it starts with -)");
    command
        .add_option("--simulate", options->simulate, "simulate GPUs of this size: 24GiB, 2x80GiB")
        ->option_text("SPEC");
    command
        .add_option("-o,--output", options->log,
                    "where the log goes; %e program, %p process id, %h host, %t seconds, %r "
                    "rank, %q{NAME} a variable")
        ->option_text("LOG");
    add_json_options(command, options->output, "the report",
                     "overwrite the log that -o names, and any file of --json and --html");
    add_pool_blocks_option(command, options->output);
    add_html_options(command, options->output);
    command
        .add_option("--reduced", options->reduced,
                    "and a small table of each log in this folder, for `vramscope job`")
        ->option_text("DIR");
    add_source_options(command, options->sources);
    offer(command
              .add_option("--pool", options->pool,
                          "what becomes of freed memory: cache, split or off")
              ->option_text("MODE"),
          {"cache", "split", "off"});
    offer(
        command
            .add_option("--set", options->settings, "a setting of the list below; may be repeated")
            ->allow_extra_args(false)
            ->option_text("NAME=VALUE"),
        settings_to_choose());
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
    add_cache_option(command, options->no_cache);
    CLI::Option* const check = command.add_flag(
        "--check", options->check, "then hold the run against a budget, and end as `check` does");
    add_budget_options(command, options->budget, check);
    add_ci_format_options(command, options->ci_formats, check);
    command.add_flag("--audit", options->audit,
                     "follow libraries opened with RTLD_DEEPBIND too, by LD_AUDIT: some "
                     "programs do not start with it");
    command.add_flag("--inside", options->inside,
                     "switch off the allocators of JAX, TensorFlow, cuDF and CuPy, so that each of "
                     "their buffers is seen");
    command
        .add_option("--bounded", options->bounded,
                    "collect its logs while it runs, so that each takes about so much of the disk "
                    "at most")
        ->option_text("SIZE");
    command.add_flag("--reach", options->reach,
                     "search its memory when its work is done, before it takes its variables down: "
                     "what holds each block that is left, and which are lost");
    add_watch_options(command, options->watch);
    // An option from before 0.5.0; it is the default now.
    command.add_flag("!--no-audit", options->audit)->group("");
}

} // namespace vramscope
