// tools/commands/commands.cpp — from arguments to the command that they name.
#include "tools/commands/commands.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>

#include "tools/manual/help.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/traced_process.hpp"

namespace vramscope {
namespace {

struct CommandGroup {
    const char* heading; // in `vramscope --help`
    std::array<std::string_view, 14> commands;
};

// A command that is in none of them is for tools.
constexpr CommandGroup kGroups[] = {
    {"Commands that are enough at first",
     {"run", "report", "leaks", "peak", "plan", "export", "check", "diff", "snapshot", "top",
      "doctor"}},
    {"More about logs and programs",
     {"timeline", "frag", "churn", "contexts", "objects", "job", "reduce", "reach", "suppress",
      "mark", "collect", "pack", "symbolize", "import"}},
};

const char* group_of(std::string_view name)
{
    for (const CommandGroup& group : kGroups)
        if (std::find(group.commands.begin(), group.commands.end(), name) != group.commands.end())
            return group.heading;
    return "For other tools, and help";
}

} // namespace

CLI::App& CommandLine::add(const std::string& name, const std::string& what,
                           const std::string& help, std::function<int()> action)
{
    CLI::App* const app = app_.add_subcommand(name, what);
    app->add_flag_callback("-v,--verbose", be_verbose,
                           "say on stderr what is read and written, from where, and when");
    app->footer(help);
    app->group(group_of(name));
    commands_.push_back({app, std::move(action), {}});
    return *app;
}

bool CommandLine::has(const std::string& name) const
{
    return std::any_of(commands_.begin(), commands_.end(),
                       [&name](const Command& command) { return command.app->get_name() == name; });
}

void CommandLine::take_rest_by(std::function<void(std::vector<std::string>&)> take_rest)
{
    commands_.back().take_rest = std::move(take_rest);
}

int CommandLine::run(std::vector<std::string> arguments)
{
    survive_full_files();
    for (const Command& command : commands_) // all of their options are there now
        if (manual::has_more(*command.app))
            command.app->set_help_all_flag("--help-all", "all options, and all about them");
    for (const Command& command : commands_) {
        if (command.app->get_name() != arguments.front())
            continue;
        if (command.take_rest)
            command.take_rest(arguments);
        refuse_wrong_values(*command.app, arguments);
    }
    std::reverse(arguments.begin(), arguments.end()); // the order that CLI11 wants
    app_.parse(arguments);
    return std::find_if(commands_.begin(), commands_.end(),
                        [](const Command& command) { return command.app->parsed(); })
        ->action(); // there is one: the parser asks for a subcommand
}

} // namespace vramscope
