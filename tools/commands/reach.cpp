// tools/commands/reach.cpp — which blocks of a running program are held, by what, or lost.
#include <memory>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "report/json/json.hpp"
#include "report/reach/live_memory.hpp"
#include "report/reach/make_reach.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/results.hpp"
#include "tools/process/live/live_process.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {
namespace {

constexpr const char* kReachFooter =
    R"(Searches the host memory of the process for pointers to each block that its log says is alive, and for what holds
those pointers, up to a variable, a stack or another root. held: a root leads to its beginning. lost: nothing that was
searched does. possibly: anything between, with the reason. Pointers in device memory are not seen, nor such as the
program keeps in another form. The driver's, the runtime's and vramscope's own tables count for nobody.

The program runs on, and nothing runs in it; then nothing is called lost, as registers are not seen. With --stop its
threads stand still while its memory is searched; a call that waits may be interrupted. It takes what a debugger may do.

Ends 0; 110 if there is no such process, it is not traced, has made no CUDA call yet, has ended, is not yours, or may
not be read; 125 for wrong usage, or if a file cannot be written.

Examples:
  vramscope reach 4711                         what holds each block?
  vramscope reach --stop 4711                  and which are lost?
  vramscope reach --stop --json - 4711 | jq '.lost.bytes'
)";

struct ReachCommand {
    pid_t pid = 0;
    bool stop = false;
    bool all_frames = false;
    OutputOptions output;
    SymbolOptions symbols;
};

// The log is read once the threads stand still: what it says is of that moment then.
report::Reach search(const ReachCommand& command, const LiveProcess& process)
{
    report::ReachOptions options;
    options.symbols = read_symbol_options(command.symbols);
    options.all_frames = command.all_frames;
    options.log_mapping = process.name.string();
    const report::LiveMemory memory(process.pid, command.stop);
    const report::LogFile log = report::LogFile::open(process.door);
    options.until_ticks = capture::read_ticks(log.header().clock);
    return report::make_reach(log, memory, options);
}

int show_reach(const ReachCommand& command)
{
    const LiveProcess process = find_live_process(command.pid);
    const Output json(command.output.json, {process.door}, command.output.force);
    const report::Reach reach = search(command, process);
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
    CLI::App& command = line.add("reach", "which blocks a running program holds, and by what",
                                 kReachFooter, show_reach, options);
    command.add_option("PID", options->pid, "a process that runs under vramscope")->required();
    command.add_flag("--stop", options->stop,
                     "let its threads stand still while its memory is searched");
    add_json_options(command, options->output, "what was found");
    add_all_frames_option(command, options->all_frames);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
