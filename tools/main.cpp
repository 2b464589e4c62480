// tools/main.cpp — options, help, and the one place where errors become an exit status.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "report/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/manual/help.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/desktop.hpp"
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

// For a first look: a person who types the name alone wants to know how to begin.
constexpr const char* kFirstSteps =
    R"(vramscope names the GPU memory that an unmodified CUDA program leaks, by line. Begin with:
  vramscope run ./train        trace a program, and say what it leaked; with --simulate 24GiB without a GPU
  vramscope report LOG         everything that a log says; run names the log at its end
  vramscope doctor ./train     whether it can be traced here, and what is in the way
vramscope --help has all commands, vramscope COMMAND --help the options and examples of one.
)";

// CLI11's exceptions become an exit status here: of --help, or of one line on what is wrong.
int run_command(std::vector<std::string> arguments)
{
    if (arguments.empty()) {
        std::fputs(kFirstSteps, stderr);
        return static_cast<int>(Exit::usage);
    }
    CLI::App app{"Trace the GPU memory of an unmodified CUDA program, and name its leaks by line.",
                 "vramscope"};
    const std::size_t columns = vramscope::terminal_columns(STDOUT_FILENO);
    app.formatter(std::make_shared<vramscope::manual::HelpFormatter>(columns ? columns : 80));
    app.set_help_flag("-h,--help", "what you read here");
    app.set_version_flag("-V,--version", "vramscope " VRAMSCOPE_VERSION, "the version");
    app.require_subcommand(1);
    app.footer(kFooter);
    vramscope::CommandLine line(app);
    for (vramscope::AddCommand* const add : vramscope::kCommands) {
        add(line);
        if (!arguments.empty() && line.has(arguments.front()))
            break; // the options of the others are not needed then
    }
    try {
        vramscope::check_command_name(app, arguments);
        return line.run(std::move(arguments));
    } catch (const CLI::Success& asked) {
        return app.exit(asked); // --help and --version
    } catch (const CLI::ParseError& error) {
        vramscope::fail(vramscope::usage_line(app, error));
        return static_cast<int>(Exit::usage);
    }
}

} // namespace

int main(int argc, char** argv)
{
    try {
        std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
        const std::optional<int> ended = vramscope::run_without_options(arguments);
        const int status = ended ? *ended : run_command(std::move(arguments));
        vramscope::finish_stdout();
        return status;
    } catch (const vramscope::report::Error& error) {
        vramscope::fail(error.what());
        return static_cast<int>(error.exit());
    } catch (const std::exception& error) {
        vramscope::fail(error.what());
        return static_cast<int>(Exit::usage);
    }
}
