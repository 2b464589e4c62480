// tools/commands/reach.cpp — which blocks of a program, or of a core, are held, by what, or lost.
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/json/json.hpp"
#include "report/reach/make_reach.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/search_memory.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/results.hpp"
#include "tools/process/live/checkpoint_cache.hpp"
#include "tools/process/live/live_process.hpp"

namespace vramscope {
namespace {

constexpr const char* kReachFooter =
    R"(Searches the host memory of the process for pointers to each block that its log says is alive, and for what holds
those pointers, up to a variable, a stack or another root. held: a root leads to its beginning. lost: nothing that was
searched does. possibly: anything between, with the reason. Pointers in device memory are not seen, nor such as the
program keeps in another form. The driver's, the runtime's and vramscope's own tables count for nobody.

The program runs on, and nothing runs in it; then nothing is called lost, as registers are not seen. With --stop its
threads stand still while its memory is searched; a call that waits may be interrupted. It takes what a debugger may do.
Of a core file, the kernel's or gcore's, its log is read up to when the file was written. Pinned memory is not in it.

Ends 0; 110 if there is no such process, it is not traced, has made no CUDA call yet, has ended, is not yours, or may
not be read; 120 if a core file is cut, is none, or is not of that log; 125 for wrong usage, or if a file cannot be written.

Examples:
  vramscope reach 4711                         what holds each block?
  vramscope reach --stop 4711                  and which are lost?
  vramscope reach core.4711 train.4711.vsl     the same of a program that crashed, or of gcore
  vramscope reach --stop --json - 4711 | jq '.lost.bytes'
)";

struct ReachCommand {
    std::string process; // its number, or a core file
    std::string log;     // of the process whose core it is
    bool stop = false;
    bool all_frames = false;
    OutputOptions output;
    SymbolOptions symbols;
};

pid_t number_of(const std::string& process)
{
    const auto pid = report::whole_number<pid_t>(process);
    if (!pid)
        throw CLI::ValidationError(
            "PROCESS",
            fmt::format("'{}' is no number of a process; of a core file, name the log too",
                        process));
    return *pid;
}

int show_reach(const ReachCommand& command)
{
    if (!command.log.empty() && command.stop)
        throw CLI::ValidationError("--stop", "a core file stands still");
    const std::optional<LiveProcess> process =
        command.log.empty() ? std::optional(find_live_process(number_of(command.process)))
                            : std::nullopt;
    const Output json(command.output.json,
                      process ? std::vector<std::filesystem::path>{process->door}
                              : std::vector<std::filesystem::path>{command.process, command.log},
                      command.output.force);
    const report::SymbolizerOptions symbols = read_symbol_options(command.symbols);
    CheckpointCache cache;
    const report::FoundReach found = process ? search_memory(*process, command.stop, &cache).found
                                             : search_core(command.process, command.log, &cache);
    const report::Reach reach = found.rows(symbols, command.all_frames);
    write_found(
        json, command.output,
        [&](std::ostream& out, const report::JsonStyle& style) {
            report::write_reach_json(out, reach, style);
        },
        [&](std::ostream& out) { report::write_reach(out, reach, style_for(STDOUT_FILENO)); });
    return 0;
}

} // namespace

void add_reach(CommandLine& line)
{
    const auto options = std::make_shared<ReachCommand>();
    CLI::App& command = line.add("reach", "which blocks a program holds, and by what", kReachFooter,
                                 show_reach, options);
    command
        .add_option("PROCESS", options->process,
                    "a process that runs under vramscope, or a core file of one")
        ->required();
    command.add_option("LOG", options->log, "of a core file, the log of its process");
    command.add_flag("--stop", options->stop,
                     "let its threads stand still while its memory is searched");
    add_json_options(command, options->output, "what was found");
    add_all_frames_option(command, options->all_frames);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
