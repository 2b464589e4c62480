// tools/main.cpp — options, help, and the one place where errors become an exit status.
#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <vector>

#include "report/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/gate.hpp"
#include "tools/commands/views.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/settings.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/messages.hpp"

namespace {

using vramscope::report::Exit;

constexpr const char* kFooter = R"(Examples:
  vramscope run ./train --epochs 2             trace a program, and say what it leaked
  vramscope run --simulate 24GiB ./train       the same on a machine without a GPU
  vramscope leaks vramscope.train.4711.vsl     list the leaks again, in full
  vramscope check vramscope.train.4711.vsl     end 0 only if nothing leaked, for CI
  vramscope mark 4711 "epoch 2"                set a mark in the log of a running program
  vramscope top                                watch what running programs hold
  vramscope snapshot 4711                      what one of them holds right now, and where from
  vramscope doctor ./train                     why would nothing be seen?
)";

constexpr const char* kRunFooter =
    R"(Everything after PROGRAM belongs to the program. `run` ends as the program ended: its exit status, 128+n if signal
n killed it, 127 if there is no such program, 126 if it cannot be executed; 125 for wrong usage or a fault of ours,
also if the program ended 0 and what --json asked for could not be written after all.
With --check and a program that ends 0, it ends as `vramscope check` would: 0, 100, 110 or 111.

Examples:
  vramscope run ./train --epochs 2
  vramscope run -o logs/train.%p.vsl -- ./train
  vramscope run --simulate 2x80GiB ./train     two simulated GPUs of 80 GiB; needs no driver
  vramscope run --json leaks.json ./train      and a report for machines
  vramscope run --check --max-peak 8GiB ./train
  vramscope run --pool cache ./train           keep freed memory, and hand it out again
  vramscope run --pool split --set guard=on --set limit=8GiB ./train
)";

constexpr const char* kViewFooter =
    R"(Ends 0 when it gave a report, a partial one included; 120 if a file is no readable log; 125 for wrong usage.

Examples:
)";

constexpr const char* kExportFooter =
    R"(Written while the log is read: memory goes with the stacks and the live blocks, not with the events. A file appears
whole or not at all.

  jsonl       every event, one JSON object a line: exact bytes, ns, hexadecimal addresses (vramscope schema events)
  heaptrack   device memory, for heaptrack_print and heaptrack_gui: leaks, peak, temporary allocations
  pprof       device and host memory by stack, for go tool pprof and what else reads its profiles; gzipped

Ends 0; 120 if LOG is no readable log; 125 for wrong usage, or if the file cannot be written.

Examples:
  vramscope export --to jsonl train.vsl | jq 'select(.type == "alloc")'
  vramscope export --to pprof -o train.pb.gz train.vsl && go tool pprof -top -sample_index=inuse_space train.pb.gz
  vramscope export --to heaptrack --device 0 -o train.txt train.vsl && heaptrack_print train.txt
)";

constexpr const char* kSchemaFooter =
    R"(JSON Schemas, draft 2020-12. Within one major version members are only added.

Examples:
  vramscope schema                             the report's: what --json writes
  vramscope schema events > events.schema.json
)";

constexpr const char* kMarkFooter =
    R"(Adds one record to the program's log; the program is neither stopped nor signalled. `vramscope report` lists the
marks with their times.

Ends 0 when the mark is in the log; 110 if there is no such process, it is not traced, has made no CUDA call yet, has
ended, or is not yours; 125 for wrong usage, or if the log cannot grow.

Examples:
  vramscope mark 4711 "after warm-up"
  vramscope mark $(pgrep train) epoch-2
)";

constexpr const char* kSnapshotFooter =
    R"(Reads the log that the program is writing; the program is neither stopped nor signalled. What it shows is held now,
and perhaps no leak: the program may free it later.

Ends 0; 110 if there is no such process, it is not traced, has made no CUDA call yet, has ended, or is not yours; 125
for wrong usage, or if a file cannot be written.

Examples:
  vramscope snapshot 4711                      what does it hold, and where from?
  vramscope snapshot 4711 -o now.vsl           and a copy of its log, for later: vramscope report now.vsl
  vramscope snapshot 4711 --json - | jq '.totals.leaked_bytes'
)";

constexpr const char* kTopFooter =
    R"(Follows the logs that programs are writing, and reads what is new in them; the programs are neither stopped nor
signalled. Ends when you press q or Ctrl-C, or when the programs have ended, and leaves the last look on the screen.
Where stdout is no terminal, one look is printed below the other.

Ends 0; 110 if there is nothing to look at: no such process, not traced, no CUDA call yet, or not yours; 125 for wrong
usage.

Examples:
  vramscope top                                all programs of yours that run under vramscope
  vramscope top 4711 --interval 0.5
  vramscope top --once                         one look, as plain text
  vramscope top 4711 --interval 60 --count 10 > growth.txt
)";

constexpr const char* kDoctorFooter =
    R"(Ends 0 when a program could be traced, 110 when nothing could be observed.

Examples:
  vramscope doctor                             the installation and the driver
  vramscope doctor ./train                     and this program
  vramscope doctor --simulate 24GiB ./train    would it run on the simulated GPU?
  vramscope doctor vramscope.train.4711.vsl    what did this log see, and what did it lose?
)";

struct CommandLine {
    CLI::App app{"Trace the GPU memory of an unmodified CUDA program, and name its leaks by line.",
                 "vramscope"};
    vramscope::RunOptions run;
    vramscope::ViewOptions view;
    vramscope::ExportCommandOptions export_;
    std::string schema = "report";
    vramscope::MarkOptions mark;
    vramscope::SnapshotOptions snapshot;
    vramscope::TopOptions top;
    vramscope::DoctorOptions doctor;
    CLI::App* run_app = nullptr;
    CLI::App* export_app = nullptr;
    CLI::App* schema_app = nullptr;
    CLI::App* mark_app = nullptr;
    CLI::App* snapshot_app = nullptr;
    CLI::App* top_app = nullptr;
    CLI::App* doctor_app = nullptr;
    std::vector<vramscope::GateCommand> gate;

    CommandLine()
    {
        vramscope::set_help_format(app);
        app.set_version_flag("--version", "vramscope " VRAMSCOPE_VERSION);
        app.require_subcommand(1);
        app.footer(kFooter);
        add_run();
        for (const vramscope::View& one : vramscope::kViews)
            add_view(one);
        add_export();
        gate.push_back(vramscope::add_check(app));
        gate.push_back(vramscope::add_diff(app));
        gate.push_back(vramscope::add_suppress(app));
        add_mark();
        add_snapshot();
        add_top();
        doctor_app =
            app.add_subcommand("doctor", "say what works here, and why nothing would be seen");
        doctor_app->add_option("TARGET", doctor.target, "a program, or a log")->option_text(" ");
        doctor_app
            ->add_option("--simulate", doctor.simulate,
                         "look at the simulated GPU instead of the driver")
            ->option_text("SPEC");
        doctor_app->footer(kDoctorFooter);
    }

    void add_run()
    {
        run_app = app.add_subcommand("run", "run a program and record its GPU memory");
        run_app
            ->add_option("PROGRAM", run.command,
                         "the program to trace, and its arguments (after -- if it starts with -)")
            ->option_text(" "); // for the help text; take_program reads it
        run_app
            ->add_option("--simulate", run.simulate, "simulate GPUs of this size: 24GiB, 2x80GiB")
            ->option_text("SPEC");
        run_app
            ->add_option("-o,--output", run.log,
                         "where the log goes; %e program, %p process id, %h host, %t seconds")
            ->option_text("LOG");
        vramscope::add_json_options(*run_app, run.json, run.force, "the report",
                                    "overwrite the log that -o names, and any file of --json");
        run_app->add_option("--pool", run.pool, "what becomes of freed memory: cache, split or off")
            ->option_text("MODE");
        run_app->add_option("--set", run.settings, "a setting of the list below; may be repeated")
            ->allow_extra_args(false)
            ->option_text("NAME=VALUE");
        vramscope::add_suppression_options(*run_app, run.suppressions);
        CLI::Option* const check = run_app->add_flag(
            "--check", run.check, "then hold the run against a budget, and end as `check` does");
        vramscope::add_budget_options(*run_app, run.budget, check);
        run_app->add_flag("--audit", run.audit,
                          "follow libraries opened with RTLD_DEEPBIND too, by LD_AUDIT: some "
                          "programs do not start with it");
        run_app->add_flag("!--no-audit", run.audit)->group(""); // of before 0.5.0: the default now
        run_app->footer(kRunFooter + vramscope::settings_help());
    }

    void add_export()
    {
        export_app = app.add_subcommand("export", "a log in the format of another program");
        export_app->add_option("LOG", export_.logs, "a log, or a folder of one")
            ->required()
            ->option_text(" ");
        export_app->add_option("--to", export_.format, "one of the formats below")
            ->required()
            ->option_text("FORMAT");
        export_app->add_option("-o,--output", export_.output, "a file; else stdout")
            ->option_text("FILE");
        export_app->add_flag("-f,--force", export_.force, vramscope::kForceHelp);
        export_app
            ->add_option("--device", export_.device, "heaptrack, pprof: only memory of this device")
            ->option_text("N");
        export_app->add_flag(
            "--all-frames", export_.all_frames,
            "heaptrack, pprof: with the frames of the CUDA runtime and of vramscope");
        export_app->footer(kExportFooter);
        schema_app = app.add_subcommand("schema", "the JSON Schema of what is written as JSON");
        schema_app->add_option("NAME", schema, "report, events, check or diff")->option_text(" ");
        schema_app->footer(kSchemaFooter);
    }

    void add_mark()
    {
        mark_app = app.add_subcommand("mark", "put a named mark into the log of a running program");
        mark_app->add_option("PID", mark.pid, "a process that runs under vramscope")
            ->required()
            ->option_text(" ");
        mark_app->add_option("NAME", mark.name, "what the mark is called in reports")
            ->required()
            ->option_text(" ");
        mark_app->footer(kMarkFooter);
    }

    void add_snapshot()
    {
        snapshot_app = app.add_subcommand("snapshot", "what a running program holds right now");
        snapshot_app->add_option("PID", snapshot.pid, "a process that runs under vramscope")
            ->required()
            ->option_text(" ");
        vramscope::add_json_options(*snapshot_app, snapshot.json, snapshot.force, "the report",
                                    "overwrite the copy, and any file of --json");
        snapshot_app
            ->add_option("-o,--output", snapshot.copy, "keep a copy of the log as it is now")
            ->option_text("COPY");
        snapshot_app->add_flag("--all-frames", snapshot.all_frames,
                               "show the frames of libraries, the CUDA runtime and vramscope too");
        snapshot_app->footer(kSnapshotFooter);
    }

    void add_top()
    {
        top_app = app.add_subcommand("top", "watch what running programs hold");
        top_app
            ->add_option("PID", top.pid, "a process that runs under vramscope; else all of yours")
            ->option_text(" ");
        top_app->add_option("--interval", top.interval, "seconds from one look to the next; 1")
            ->option_text("S");
        top_app->add_option("--count", top.count, "end after so many looks")->option_text("N");
        top_app->add_flag("--once", top.once, "one look, as plain text");
        top_app->footer(kTopFooter);
    }

    void add_view(const vramscope::View& one)
    {
        CLI::App* app_of_one = app.add_subcommand(one.name, one.what);
        app_of_one->add_option("LOG", view.logs, "logs, or folders of them")
            ->required()
            ->option_text(" ");
        vramscope::add_json_options(*app_of_one, view.json, view.force, "the report");
        app_of_one
            ->add_option("--per", view.per,
                         "tell growth per step of this NVTX range or mark: epoch, \"step 1\"")
            ->option_text("NAME");
        app_of_one->add_flag("--all-frames", view.all_frames,
                             "show the frames of libraries, the CUDA runtime and vramscope too");
        vramscope::add_suppression_options(*app_of_one, view.suppressions);
        app_of_one->footer(std::string(kViewFooter) + one.examples);
        app_of_one->callback([this, &one] { view.write = one.write; });
    }
};

// Cuts PROGRAM and what follows it off `arguments`: that part is never ours to understand.
std::vector<std::string> take_program(const CLI::App& run, std::vector<std::string>& arguments)
{
    std::size_t at = 1;
    for (; at < arguments.size(); ++at) {
        const std::string& argument = arguments[at];
        if (argument == "--" || !argument.starts_with('-') || argument == "-")
            break;
        const CLI::Option* option = run.get_option_no_throw(argument);
        const bool value_follows = option && option->get_items_expected_max() > 0;
        at += value_follows ? 1 : 0;
    }
    at = std::min(at, arguments.size());
    const bool dashes = at < arguments.size() && arguments[at] == "--";
    const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<std::string> program(begin + (dashes ? 1 : 0), arguments.end());
    arguments.erase(begin, arguments.end());
    return program;
}

int dispatch(CommandLine& line)
{
    if (*line.run_app) {
        if (line.run.command.empty())
            throw CLI::RequiredError("PROGRAM");
        return vramscope::run_command(line.run);
    }
    if (line.view.write)
        return vramscope::view_command(line.view);
    if (*line.export_app)
        return vramscope::export_command(line.export_);
    if (*line.schema_app)
        return vramscope::schema_command(line.schema);
    for (const vramscope::GateCommand& command : line.gate)
        if (*command.parsed)
            return command.run();
    if (*line.mark_app)
        return vramscope::mark_command(line.mark);
    if (*line.snapshot_app)
        return vramscope::snapshot_command(line.snapshot);
    if (*line.top_app)
        return vramscope::top_command(line.top);
    return vramscope::doctor_command(line.doctor);
}

} // namespace

int main(int argc, char** argv)
{
    try {
        CommandLine line;
        try {
            std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
            vramscope::check_command_name(line.app, arguments);
            if (arguments.front() == "run")
                line.run.command = take_program(*line.run_app, arguments);
            std::reverse(arguments.begin(), arguments.end()); // as CLI11 wants them
            line.app.parse(arguments);
            return dispatch(line);
        } catch (const CLI::Success& asked) {
            return line.app.exit(asked); // --help and --version
        } catch (const CLI::ParseError& error) {
            vramscope::fail(vramscope::usage_line(line.app, error));
            return static_cast<int>(Exit::usage);
        }
    } catch (const vramscope::report::Error& error) {
        vramscope::fail(error.what());
        return static_cast<int>(error.exit());
    } catch (const std::exception& error) {
        vramscope::fail(error.what());
        return static_cast<int>(Exit::usage);
    }
}
