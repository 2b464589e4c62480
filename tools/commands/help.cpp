// tools/commands/help.cpp — the help of vramscope, or of one command.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/commands/commands.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kHelpFooter = R"(Examples:
  vramscope help                               all commands
  vramscope help run                           as vramscope run --help; vramscope run --help-all has more
)";

struct HelpOptions {
    const CLI::App* app = nullptr; // with all commands
    std::string command;           // empty: vramscope itself
};

int print_help(const HelpOptions& options)
{
    const bool of_all = options.command.empty();
    if (!of_all)
        check_command_name(*options.app, {options.command});
    const std::string& whole = options.app->get_name();
    const CLI::App& told = of_all ? *options.app : *options.app->get_subcommand(options.command);
    write_text_to(Output("-", {}, false), options.app->get_formatter()->make_help(
                                              &told, of_all ? whole : whole + " " + options.command,
                                              CLI::AppFormatMode::Normal));
    return 0;
}

} // namespace

void add_help(CommandLine& line)
{
    const auto options = std::make_shared<HelpOptions>();
    options->app = &line.app();
    CLI::App& command =
        line.add("help", "what a command does, and its options", kHelpFooter, print_help, options);
    std::vector<std::string> names;
    for (const CLI::App* one : line.app().get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(one->get_name());
    offer(command.add_option("COMMAND", options->command, "the command; else all are listed"),
          names);
}

} // namespace vramscope
