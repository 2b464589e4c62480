// tools/commands/commands.hpp — the commands, and how each joins the command line.
//
// A command is one file: its options, its help with examples, and what it does. It adds itself by
// add_NAME(), which is listed in kCommands.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace vramscope {

class CommandLine {
public:
    explicit CommandLine(CLI::App& app) : app_(app) {}

    // `what` is the command's line in `vramscope --help`; `help` follows the options in its own.
    template <class Options>
    CLI::App& add(const std::string& name, const std::string& what, const std::string& help,
                  int (*action)(const Options&), const std::shared_ptr<Options>& options)
    {
        return add(name, what, help, [action, options] { return action(*options); });
    }

    bool has(const std::string& name) const;

    // The command that was added last takes from the end of the arguments what the parser
    // must not understand.
    void take_rest_by(std::function<void(std::vector<std::string>& arguments)> take_rest);

    // The whole command line: what is added last sees all others.
    const CLI::App& app() const { return app_; }

    // Runs the command that the arguments name. CLI::Error if they are wrong or ask for help.
    int run(std::vector<std::string> arguments);

private:
    struct Command {
        CLI::App* app;               // its options and its help
        std::function<int()> action; // returns the exit status
        std::function<void(std::vector<std::string>&)> take_rest;
    };

    CLI::App& add(const std::string& name, const std::string& what, const std::string& help,
                  std::function<int()> action);

    CLI::App& app_;
    std::vector<Command> commands_;
};

using AddCommand = void(CommandLine& line);
AddCommand add_run, add_views, add_plan, add_export, add_schema, add_check, add_diff, add_suppress,
    add_reduce, add_job, add_mark, add_snapshot, add_reach, add_top, add_collect, add_pack,
    add_symbolize, add_import, add_doctor, add_memcheck, add_kernel, add_manuals, add_help;

// In the order of `vramscope --help`, which has them in groups (commands.cpp).
// add_manuals comes last, with add_help: these know all others.
inline constexpr AddCommand* kCommands[] = {
    add_run,    add_views,    add_plan,    add_export, add_schema,    add_check,
    add_diff,   add_suppress, add_reduce,  add_job,    add_mark,      add_snapshot,
    add_reach,  add_top,      add_collect, add_pack,   add_symbolize, add_import,
    add_doctor, add_memcheck, add_kernel,  add_manuals};

// What `run PROGRAM...` ended with, or nothing if there is an option of ours to parse.
std::optional<int> run_without_options(const std::vector<std::string>& arguments);

} // namespace vramscope
