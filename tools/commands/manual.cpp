// tools/commands/manual.cpp — what an installation puts beside the program: manual pages, and
// completion for shells. Both are made of the table that the options are read by.
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/manual/completions.hpp"
#include "tools/manual/man_page.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/results.hpp"
#include "tools/process/live/live_process.hpp"

namespace vramscope {
namespace {

constexpr const char* kCompletionFooter =
    R"(A package of vramscope has these in place already. fish and zsh find theirs in a folder of their own.

Examples:
  vramscope completion bash > ~/.local/share/bash-completion/completions/vramscope
  vramscope completion zsh > ~/.zfunc/_vramscope
  vramscope completion fish > ~/.config/fish/completions/vramscope.fish
)";

constexpr const char* kManualFooter = R"(Examples:
  vramscope manual | man -l -                  the page of vramscope, which lists the others
  vramscope manual run | man -l -              vramscope-run(1)
)";

struct Shell {
    const char* name;
    std::string (*completion)(const std::vector<manual::CommandRow>&);
};
constexpr std::array kShells{
    Shell{"bash", &manual::bash_completion},
    Shell{"zsh", &manual::zsh_completion},
    Shell{"fish", &manual::fish_completion},
};

struct ManualOptions {
    const CLI::App* app = nullptr; // with all commands
    std::string name;              // a shell's; a command's, or empty for vramscope itself
    bool pids = false;
};

// For the scripts: a line for each, with what it runs.
void print_pids()
{
    std::string text;
    for (const LiveProcess& process : find_live_processes()) {
        std::string name = text_of(fmt::format("/proc/{}/comm", process.pid));
        name.erase(std::min(name.find('\n'), name.size()));
        text += fmt::format("{}\t{}\n", process.pid, report::terminal_safe(name));
    }
    write_text_to(Output("-", {}, false), text);
}

int print_completion(const ManualOptions& options)
{
    if (options.pids) {
        print_pids();
        return 0;
    }
    if (options.name.empty())
        throw CLI::RequiredError("SHELL");
    for (const Shell& shell : kShells) {
        if (options.name != shell.name)
            continue;
        write_text_to(Output("-", {}, false), shell.completion(manual::rows_of(*options.app)));
        return 0;
    }
    throw report::Error(
        report::Exit::usage,
        fmt::format("no completion for {}: there is bash, zsh, fish", options.name));
}

int print_manual(const ManualOptions& options)
try {
    write_text_to(Output("-", {}, false),
                  manual::man_page(manual::rows_of(*options.app), options.name, VRAMSCOPE_VERSION));
    return 0;
} catch (const std::out_of_range& missing) {
    throw report::Error(report::Exit::usage,
                        fmt::format("{} (see `vramscope --help`)", missing.what()));
}

} // namespace

// All at once, so that each knows the others.
void add_manuals(CommandLine& line)
{
    const auto page = std::make_shared<ManualOptions>();
    page->app = &line.app();
    CLI::App& manual = line.add("manual", "the manual page of a command, for man", kManualFooter,
                                print_manual, page);
    manual.add_option("COMMAND", page->name, "the command; else vramscope itself");

    const auto shell = std::make_shared<ManualOptions>();
    shell->app = &line.app();
    CLI::App& completion = line.add("completion", "completion of commands and options, for a shell",
                                    kCompletionFooter, print_completion, shell);
    std::vector<std::string> names;
    for (const Shell& one : kShells)
        names.emplace_back(one.name);
    offer(completion.add_option("SHELL", shell->name, "bash, zsh or fish"), names);
    completion.add_flag("--pids", shell->pids,
                        "what the scripts ask for: your processes that run under vramscope");
    add_help(line);
}

} // namespace vramscope
