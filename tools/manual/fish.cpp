// tools/manual/fish.cpp — completion for fish: a line for each command and option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/completions.hpp"

namespace vramscope::manual {
namespace {

constexpr const char* kBeforeProgram = R"(
function __vramscope_{0}_before_program
    set -l value no
    for word in (commandline -opc)[3..-1]
        if test $value = yes
            set value no
        else if contains -- $word {1}
            set value yes
        else if test $word = --; or not string match -q -- '-*' $word
            return 1
        end
    end
    __fish_seen_subcommand_from {0}
end
)";

// What follows; -f at the head of the script leaves files out everywhere else.
std::string what_follows(const OptionRow& row)
{
    switch (row.takes) {
    case Takes::choice:
        return fmt::format(" -x -a '{}'", fmt::join(row.choices, " "));
    case Takes::file:
        return " -r -F";
    case Takes::folder:
        return " -x -a '(__fish_complete_directories)'";
    case Takes::process:
        return " -x -a '(vramscope completion --pids 2>/dev/null)'";
    case Takes::program:
        return " -x -a '(__fish_complete_subcommand --fcs-skip=2)'";
    case Takes::text:
        return " -x";
    case Takes::nothing:
        break;
    }
    return "";
}

// What follows PROGRAM is not ours to complete. This tests for that, and knows the options whose
// value is not the program.
std::string before_program(const CommandRow& command)
{
    return fmt::format(kBeforeProgram, command.name, fmt::join(command.names_with_value(), " "));
}

std::string line(const std::string& condition, const OptionRow& row)
{
    std::string names;
    for (const std::string& name : row.names)
        if (name.starts_with("--"))
            names += " -l " + name.substr(2);
        else if (name.starts_with("-"))
            names += " -s " + name.substr(1);
    return fmt::format("complete -c vramscope -n {}{}{} -d {}\n", condition, names,
                       what_follows(row), as_word(row.what));
}

} // namespace

std::string fish_completion(const std::vector<CommandRow>& rows)
{
    std::string text =
        "# Completion of vramscope for fish, made by `vramscope completion fish`.\n\n"
        "complete -c vramscope -f\n"
        "complete -c vramscope-memcheck -f -w 'vramscope memcheck'\n";
    for (const CommandRow& command : rows) {
        const bool whole = command.name.empty();
        const bool program = command.runs_program();
        const std::string seen = as_word("__fish_seen_subcommand_from " + command.name);
        const std::string condition = whole     ? "__fish_use_subcommand"
                                      : program ? "__vramscope_" + command.name + "_before_program"
                                                : seen;
        if (program)
            text += before_program(command);
        if (!whole)
            text += fmt::format("\ncomplete -c vramscope -n __fish_use_subcommand -a {} -d {}\n",
                                command.name, as_word(command.what));
        for (const OptionRow& option : command.options)
            text += line(condition, option);
        for (const OptionRow& operand : command.operands)
            if (operand.takes != Takes::text)
                text += line(seen, operand);
    }
    return text;
}

} // namespace vramscope::manual
