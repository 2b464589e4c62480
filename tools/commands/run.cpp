// tools/commands/run.cpp — run a program with the tracer in it, and say what it leaked.
//
// Whatever goes wrong after the program was started is reported but does not change its exit
// status, unless the program itself did not fail and what --check or --json asked for is not there.
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
#include "tools/commands/commands.hpp"
#include "tools/commands/kept_names.hpp"
#include "tools/commands/run_options.hpp"
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

namespace vramscope {
namespace {

void check_simulate(const RunOptions& options, const Installation& installation)
{
    if (options.simulate.empty())
        return;
    check_simulated_devices(options.simulate);
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
    const bool is_folder = std::filesystem::is_directory(folder);
    if (is_folder && ::access(folder.c_str(), W_OK | X_OK) == 0)
        return;
    const std::string why = is_folder ? "is no folder that can be written to"
                            : std::filesystem::exists(folder) ? "is no folder"
                                                              : problem.message();
    throw report::Error(report::Exit::usage, fmt::format("--reduced {}: {}", folder, why));
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
        for (const std::string& made : {log, outputs.table_of(log).string()}) {
            Output::keep_apart(made, inputs_of(options, program));
            outputs.keep_off(made);
        }
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

// Each is checked against all before it; the names of logs are known later.
RunOutputs outputs_of(const RunOptions& options, const ProgramFile& program,
                      const Judgement& judgement)
{
    std::vector<std::filesystem::path> taken = inputs_of(options, program);
    const auto take = [&taken](const Output& output) {
        if (output.wanted() && !output.is_stdout())
            taken.emplace_back(output.name());
    };
    Output json(options.output.json, taken, options.output.force);
    Output html = page_output(options.output, taken);
    take(json);
    take(html);
    WatchPlan watch = read_watch_options(options.watch, options.command.front(), taken,
                                         options.output.force, judgement.symbols);
    if (options.watch.interval && !options.watch.wanted())
        throw report::Error(report::Exit::usage,
                            "--interval is for --metrics and --on: give one of them");
    take(watch.metrics);
    check_folder_of_tables(options.reduced);
    return {std::move(json),
            std::move(html),
            std::move(watch),
            options.output,
            CiFormatFiles(options.ci_formats, taken, options.output.json, options.output.force),
            options.reduced,
            options.logs_stay};
}

} // namespace

void check_simulated_devices(const std::string& spec)
{
    if (!simgpu::parse_devices(spec))
        throw report::Error(report::Exit::usage,
                            fmt::format("--simulate '{}': write a size from 16MiB to 2TiB, with up "
                                        "to 16 devices: 24GiB or 2x80GiB",
                                        spec));
}

int run_program(const RunOptions& options)
{
    if (options.command.empty())
        throw CLI::RequiredError("PROGRAM");
    survive_failed_writes();
    const ProgramFile file = inspect_program(options.command.front());
    const Installation installation = parts_for(options, file);
    check_simulate(options, installation);
    const Judgement judgement = read_judgement(options);
    const std::optional<std::uint64_t> bound = read_bound(options, judgement.rules);
    const RunOutputs outputs = outputs_of(options, file, judgement);
    const RunFile run_file;
    if (options.inside)
        for (const std::string& line : switches_that_stay())
            warn(fmt::format("--inside: {} is set, and stays", line));

    std::optional<SearchesAtEnd> searches;
    if (options.reach)
        searches.emplace();
    const std::string ending = searches ? searches->socket() : "";
    std::optional<RunWatch> watch; // begun last: it has what we have open
    if (options.watch.wanted())
        watch.emplace(outputs.watch, run_file);
    const auto started = std::chrono::steady_clock::now();
    TracedProcess program(options.command, [&] {
        return prepare(options, file, outputs, installation, run_file, ending);
    });
    if (program.exec_error() != 0)
        return refuse_to_run(options.command.front(), file, program.exec_error());
    if (watch)
        watch->begin();
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
                                     wait_status,
                                     options.reach},
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
    add_run_options(command, *options);
}

} // namespace vramscope
