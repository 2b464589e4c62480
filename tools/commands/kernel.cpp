// tools/commands/kernel.cpp — a kernel of Jupyter whose cells run under vramscope.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/run_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/output_file.hpp"
#include "tools/process/installation.hpp"
#include "tools/process/program_file.hpp"

namespace vramscope {
namespace {

constexpr const char* kKernelFooter =
    R"(Writes a kernel.json for Jupyter, which starts Python under `vramscope run`, with the options behind --. It goes where
Jupyter looks for this user's kernels: JUPYTER_DATA_DIR, or jupyter below XDG_DATA_HOME or ~/.local/share. In a notebook
with that kernel, `%load_ext vramscope` gives the magic `%%vramscope` around a cell. The log is beside the notebook.

Ends 0; 125 for wrong usage, or if the file cannot be written or is there already.

Examples:
  vramscope kernel install
  vramscope kernel install -- --simulate 24GiB                 on a machine without a GPU
  vramscope kernel install --name torch --python ~/torch/bin/python3 -- --pool off
)";

struct KernelOptions {
    std::string action;
    std::string name = "vramscope";
    std::string python = "python3";
    std::vector<std::string> run_options;
    bool force = false; // overwrite a kernel of that name
};

using report::Error;
using report::Exit;
namespace fs = std::filesystem;

// As jupyter_core finds it.
fs::path jupyter_data()
{
    const auto set = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    if (const std::string folder = set("JUPYTER_DATA_DIR"); !folder.empty())
        return folder;
    if (const std::string folder = set("XDG_DATA_HOME"); !folder.empty())
        return fs::path(folder) / "jupyter";
    if (const std::string home = set("HOME"); !home.empty())
        return fs::path(home) / ".local/share/jupyter";
    throw Error(Exit::usage, "neither HOME nor JUPYTER_DATA_DIR is set: nobody knows where "
                             "Jupyter looks for kernels");
}

// Which names of kernels Jupyter takes; of these, none that is another folder.
bool is_kernel_name(std::string_view name)
{
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return !name.empty() && !name.starts_with('.') && name.find_first_not_of(kLetters) == name.npos;
}

// What `run` would refuse in each notebook is refused here, in its words.
void check_run_options(const std::vector<std::string>& words)
{
    RunOptions unused;
    CLI::App line;
    CLI::App& run = *line.add_subcommand("run");
    add_run_options(run, unused);
    std::vector<std::string> arguments{"run"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const std::vector<std::string> rest = take_program(run, arguments);
    refuse_wrong_values(run, arguments);
    std::reverse(arguments.begin(), arguments.end()); // the order that CLI11 wants
    try {
        line.parse(arguments);
    } catch (const CLI::ParseError& error) {
        throw Error(Exit::usage, "behind --: " + usage_line(line, error));
    }
    if (!rest.empty())
        throw Error(Exit::usage, fmt::format("'{}' is no option: behind -- are options of run, "
                                             "such as --simulate 24GiB",
                                             rest.front()));
}

void check_kernel(const KernelOptions& options)
{
    if (options.action != "install")
        throw Error(Exit::usage, fmt::format("kernel {}: it can be install", options.action));
    if (!is_kernel_name(options.name))
        throw Error(Exit::usage, fmt::format("--name '{}': a kernel's name has letters, digits, "
                                             "'-', '_' and '.'",
                                             options.name));
    check_run_options(options.run_options);
}

std::string kernel_json(const KernelOptions& options, const fs::path& python)
{
    std::vector<std::string> command{find_installation().executable.string(), "run"};
    command.insert(command.end(), options.run_options.begin(), options.run_options.end());
    for (const std::string& word :
         {std::string("--"), python.string(), std::string("-m"), std::string("ipykernel_launcher"),
          std::string("-f"), std::string("{connection_file}")})
        command.push_back(word);
    nlohmann::ordered_json kernel;
    kernel["argv"] = command;
    kernel["display_name"] = fmt::format("Python 3 ({})", options.name);
    kernel["language"] = "python";
    // A signal to the whole group would reach Python twice: from Jupyter, and passed on by `run`.
    kernel["interrupt_mode"] = "message";
    kernel["metadata"]["debugger"] = true;
    return kernel.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

int install_kernel(const KernelOptions& options)
{
    check_kernel(options);
    const fs::path python = inspect_program(options.python).path;
    if (python.empty())
        throw Error(Exit::usage, fmt::format("there is no {}: name a Python that has ipykernel, "
                                             "--python PYTHON",
                                             options.python));
    const fs::path folder = jupyter_data() / "kernels" / options.name;
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem)
        throw Error(Exit::usage,
                    fmt::format("cannot make {}: {}", folder.string(), problem.message()));
    const Output output(folder / "kernel.json", {}, options.force, Output::Keep::every_file);
    OutputFile file(output);
    file.write(
        kernel_json(options, fs::absolute(python))); // as it is: a link leads to its packages
    file.finish();
    say(fmt::format("wrote {}: choose the kernel \"Python 3 ({})\" in Jupyter", output.name(),
                    options.name));
    return 0;
}

} // namespace

void add_kernel(CommandLine& line)
{
    const auto options = std::make_shared<KernelOptions>();
    CLI::App& command = line.add("kernel", "a kernel for Jupyter that runs under vramscope",
                                 kKernelFooter, install_kernel, options);
    offer(command.add_option("ACTION", options->action, "install")->required(), {"install"});
    command.add_option("OPTIONS", options->run_options, "options of run, behind --");
    command.add_option("--name", options->name, "of the kernel; else vramscope")
        ->option_text("NAME");
    command.add_option("--python", options->python, "the Python that has ipykernel; else python3")
        ->option_text("PYTHON");
    command.add_flag("-f,--force", options->force, "overwrite a kernel of that name");
}

} // namespace vramscope
