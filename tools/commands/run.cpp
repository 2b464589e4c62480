// tools/commands/run.cpp — run a program with the tracer in it, and say what it leaked.
//
// Whatever goes wrong after the program was started is told and changes nothing of its exit status,
// unless the program itself did not fail, and what was asked for, --check or --json, is not there.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <optional>
#include <unistd.h>

#include "report/error.hpp"
#include "report/judge/measures.hpp"
#include "report/text/check.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/settings.hpp"
#include "tools/output/interrupt.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/results.hpp"
#include "tools/process/diagnosis.hpp"
#include "tools/process/installation.hpp"
#include "tools/process/left_running.hpp"
#include "tools/process/log_place.hpp"
#include "tools/process/log_stamp.hpp"
#include "tools/process/run_file.hpp"
#include "tools/process/traced_process.hpp"
#include "tools/simgpu/driver/base/settings.hpp"

namespace vramscope {
namespace {

std::string value_of(const char* variable)
{
    const char* value = std::getenv(variable);
    return value ? value : "";
}

void put_before(const char* variable, const std::string& value)
{
    const std::string old = value_of(variable);
    ::setenv(variable, (old.empty() ? value : value + ":" + old).c_str(), 1);
}

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

// The parts that this run asks for, or an Error. A program of musl would die of a library that its
// loader cannot load: it runs without, and untraced.
Installation parts_for(const RunOptions& options)
{
    Installation parts = find_installation();
    required_preload(parts);
    if (options.audit && parts.audit.empty())
        throw report::Error(report::Exit::usage,
                            fmt::format("--audit: libvramscope-audit.so is not installed near {}",
                                        parts.executable.string()));
    const ProgramFile program = inspect_program(options.command.front());
    if (!runs_on_musl(program))
        return parts;
    for (const std::string& line : obstacles(program))
        warn(line + ". It runs untraced");
    parts.preload.clear();
    return parts;
}

// With LD_AUDIT the loader sets the room for static TLS before it knows what the program's
// libraries need, and then refuses what does not fit. Each stack gives this room up: of the
// smallest (16 KiB) it leaves what a hook needs, with some 900 bytes to spare.
void make_room_for_static_tls()
{
    const std::string name = "glibc.rtld.optional_static_tls";
    const std::string tunables = value_of("GLIBC_TUNABLES");
    if (tunables.find(name) == std::string::npos)
        ::setenv("GLIBC_TUNABLES",
                 (tunables.empty() ? "" : tunables + ":").append(name + "=5120").c_str(), 1);
}

void open_doors(const RunOptions& options, const Installation& installation)
{
    put_before("LD_PRELOAD", installation.preload.string());
    ::setenv("NVTX_INJECTION64_PATH", installation.preload.c_str(), 0);
    if (options.audit) {
        put_before("LD_AUDIT", installation.audit.string());
        make_room_for_static_tls();
    }
}

// The environment of the traced program. Runs in the child, before exec.
void set_environment(const RunOptions& options, const Installation& installation,
                     const RunFile& run_file, const std::string& pattern)
{
    if (!installation.preload.empty())
        open_doors(options, installation);
    for (const auto& [variable, value] : chosen_settings(options))
        ::setenv(variable.c_str(), value.c_str(), 1);
    ::setenv("VRAMSCOPE_LOG", pattern.c_str(), 1);
    ::setenv("VRAMSCOPE_RUN", run_file.variable().c_str(), 1);
    if (!options.simulate.empty()) {
        ::setenv("VRAMSCOPE_SIMULATE", options.simulate.c_str(), 1);
        put_before("LD_LIBRARY_PATH", installation.simgpu.string());
    }
}

std::vector<std::filesystem::path> inputs_of(const RunOptions& options)
{
    return inputs({inspect_program(options.command.front()).path}, options.suppressions,
                  options.budget.file);
}

// Everything that can be known to fail is found before the program runs.
std::string prepare(const RunOptions& options, const Output& json, const Installation& installation,
                    const RunFile& run_file)
{
    try {
        const std::string wanted = options.log.empty() ? value_of("VRAMSCOPE_LOG") : options.log;
        const std::string pattern = absolute_pattern(wanted.empty() ? kDefaultLog : wanted);
        const std::string log = expand_pattern(pattern, options.command.front(), ::getpid());
        check_folder(log);
        Output::keep_apart(log, inputs_of(options));
        json.keep_off(log);
        // A default name that is taken gets a number behind it instead. Nothing is overwritten for
        // a program that will not start.
        if (!options.log.empty() && inspect_program(options.command.front()).executable)
            make_way(log, options.force);
        set_environment(options, installation, run_file, pattern);
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

std::vector<std::filesystem::path> stamp_logs(const std::vector<RunLog>& logs, pid_t child,
                                              int wait_status)
{
    std::vector<std::filesystem::path> paths;
    for (const RunLog& log : logs) {
        SeenByParent seen;
        seen.exec_seen = log.exec_seen;
        if (log.pid == child && !log.exec_seen)
            seen.wait_status = wait_status;
        const std::string problem =
            seen.wait_status || seen.exec_seen ? stamp_log(log.path, log.pid, seen) : "";
        if (!problem.empty())
            warn(fmt::format("{}: how its process ended could not be noted: {}", log.path.string(),
                             problem));
        const auto nearby = log.path.lexically_relative(std::filesystem::current_path());
        paths.push_back(nearby.empty() || nearby.string().starts_with("..") ? log.path : nearby);
    }
    return paths;
}

// Each once, in the order of the logs: processes of one run may have met different drivers.
void tell_drivers(const report::Report& report)
{
    std::vector<std::string> told;
    for (const report::Process& process : report.processes) {
        const bool simulated = process.info_value("driver.simulated") == "1";
        std::string line = simulated ? "ran on the simulated GPU"
                                     : "ran on the driver " + process.info_value("driver.path");
        for (const report::DeviceInfo& device : process.devices)
            line += fmt::format(", device {}: {}", device.ordinal, device.name);
        const bool known = simulated || !process.info_value("driver.path").empty();
        if (known && std::find(told.begin(), told.end(), line) == told.end())
            told.push_back(line);
    }
    for (const std::string& line : told)
        say(line);
}

// What a run is judged by; read before the program starts.
struct Judgement {
    report::Suppressions suppressions;
    std::optional<report::Budget> budget; // of --check
};

Judgement read_judgement(const RunOptions& options)
{
    Judgement judgement{read_suppressions(options.suppressions), std::nullopt};
    if (options.check)
        judgement.budget = read_budget(options.budget);
    return judgement;
}

// A process that could not make its log is one of which nothing is known; where there is no driver,
// there was nothing to know.
bool tells_of_a_lost_process(const Announcement& note, const std::vector<RunLog>& logs)
{
    return !note.text.starts_with("cuInit failed") &&
           std::none_of(logs.begin(), logs.end(),
                        [&](const RunLog& log) { return log.pid == note.pid; });
}

report::Report read_what_was_seen(const RunOptions& options, const Judgement& judgement,
                                  const Installation& installation, const RunFile& run_file,
                                  const std::vector<Announcement>& announcements,
                                  const std::vector<std::filesystem::path>& logs)
{
    report::Report report;
    if (!logs.empty()) {
        report::Options reading;
        reading.suppressions = judgement.suppressions;
        report = read_logs(logs, std::move(reading));
    }
    for (const Announcement& entry : announcements) {
        if (entry.kind != "note") // told by the traced process too, but perhaps long ago
            continue;
        const bool doubt = logs.empty() || tells_of_a_lost_process(entry, logs_of(announcements));
        (doubt ? report.reasons : report.notices).push_back(entry.text);
        if (doubt)
            report.verdict = report::Verdict::inconclusive;
    }
    const bool nothing_seen = !report::saw_memory_call(report);
    for (std::string& doubt :
         doubts_of(left_running(run_file.path(), announcements), nothing_seen)) {
        report.reasons.push_back(std::move(doubt));
        report.verdict = report::Verdict::inconclusive;
    }
    if (nothing_seen) {
        const ProgramFile program = inspect_program(options.command.front());
        const auto reasons = report.reasons.empty()
                                 ? why_nothing_was_seen(program, options.simulate, installation,
                                                        !announcements.empty())
                                 : gpu_obstacles(program, options.simulate, installation, Ask::all);
        report.reasons.insert(report.reasons.end(), reasons.begin(), reasons.end());
    }
    return report;
}

// Returns the exit status of --check, or 0.
int tell_what_was_seen(const RunOptions& options, const Judgement& judgement, const Output& json,
                       const Installation& installation, const RunFile& run_file, pid_t child,
                       int wait_status)
{
    const std::vector<Announcement> announcements = run_file.read();
    const auto logs = stamp_logs(logs_of(announcements), child, wait_status);
    const report::Report report =
        read_what_was_seen(options, judgement, installation, run_file, announcements, logs);
    if (logs.empty()) {
        say("nothing was seen of the program:");
        for (const std::string& line : report.reasons)
            say("  " + line);
    } else {
        tell_drivers(report);
        report::write_summary(std::cerr, report, style_for(STDERR_FILENO));
    }
    for (const std::filesystem::path& log : logs)
        json.keep_off(log); // of several processes each has another name
    if (json.wanted())
        write_json_to(json, report);
    if (!judgement.budget)
        return 0;
    const report::Check check = report::check(report, *judgement.budget);
    report::write_check_summary(std::cerr, check, report, style_for(STDERR_FILENO));
    return static_cast<int>(check.exit);
}

int refuse_to_run(const std::string& program, int error)
{
    const bool missing_interpreter = error == ENOENT && !inspect_program(program).path.empty();
    fail(fmt::format("cannot run {}: {}", program,
                     missing_interpreter ? "the interpreter or loader that it names is missing"
                                         : std::strerror(error)));
    return error == ENOENT ? 127 : 126;
}

} // namespace

int run_command(const RunOptions& options)
{
    survive_failed_writes();
    const Installation installation = parts_for(options);
    check_simulate(options, installation);
    const Judgement judgement = read_judgement(options);
    const Output json(options.json, inputs_of(options), options.force);
    const RunFile run_file;

    TracedProcess program(options.command,
                          [&] { return prepare(options, json, installation, run_file); });
    if (program.exec_error() != 0)
        return refuse_to_run(options.command.front(), program.exec_error());
    const int wait_status = program.wait();
    const Interrupt interrupt(program.signals_seen());
    program.let_signals_through();
    int judged = 0;
    bool told = false;
    try {
        judged = tell_what_was_seen(options, judgement, json, installation, run_file, program.pid(),
                                    wait_status);
        told = true;
    } catch (const report::Error& error) {
        fail(error.what());
        judged = static_cast<int>(error.exit());
    } catch (const std::exception& error) {
        fail(error.what());
        judged = static_cast<int>(report::Exit::usage);
    }
    const int own = exit_status_of(wait_status);
    const bool asked_for = options.check || (json.wanted() && !told);
    return own == 0 && asked_for ? judged : own;
}

} // namespace vramscope
