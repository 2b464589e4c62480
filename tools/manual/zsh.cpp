// tools/manual/zsh.cpp — completion for zsh, by its own _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/completions.hpp"

namespace vramscope::manual {
namespace {

constexpr const char* kZshBegin = R"zsh(#compdef vramscope vramscope-memcheck
# Completion of vramscope for zsh, made by `vramscope completion zsh`.

_vramscope_pids() {
    local -a pids=(${${(f)"$(vramscope completion --pids 2>/dev/null)"}//$'\t'/:})
    _describe 'traced process' pids
}

_vramscope() {
    if [[ $service == vramscope-memcheck ]]; then
        words=(vramscope memcheck "${(@)words[2,-1]}")
        ((++CURRENT))
    fi
)zsh";

constexpr const char* kZshBetween = R"(    if ((CURRENT == 2)); then
        _describe -t commands 'command of vramscope' commands
        [[ $words[CURRENT] != -* ]] || compadd -- $options
        return
    fi
    local command=$words[2]
    shift words
    ((--CURRENT))
    case $command in
)";

constexpr const char* kZshEnd = R"(    esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _vramscope "$@"
else
    compdef _vramscope vramscope vramscope-memcheck
fi
)";

// In the brackets and between the colons of a specification.
std::string in_specification(std::string text)
{
    for (const char* mark : {"\\", "[", "]", ":"})
        text = replaced(text, mark, std::string("\\") + mark);
    return text;
}

std::string action_of(const OptionRow& row)
{
    switch (row.takes) {
    case Takes::choice:
        return fmt::format("({})", fmt::join(row.choices, " "));
    case Takes::file:
        return "_files";
    case Takes::folder:
        return "_files -/";
    case Takes::process:
        return "_vramscope_pids";
    case Takes::program:
    case Takes::text:
    case Takes::nothing:
        break;
    }
    return " "; // nothing that could be known here
}

// '(-o --output)'{-o,--output=}'[where the log goes]:LOG:_files'
std::string option_argument(const OptionRow& row)
{
    std::string names;
    for (const std::string& name : row.names) {
        const bool one_letter = !name.starts_with("--");
        const char* const behind = row.takes == Takes::nothing ? "" : one_letter ? "+" : "=";
        names += (names.empty() ? "" : ",") + name + behind;
    }
    const std::string others = row.repeated ? "*" : fmt::format("({})", fmt::join(row.names, " "));
    const std::string value =
        row.takes == Takes::nothing
            ? ""
            : fmt::format(":{}:{}", in_specification(row.value), action_of(row));
    return fmt::format("{}{}{}", as_word(others), row.names.size() > 1 ? "{" + names + "}" : names,
                       as_word("[" + in_specification(row.what) + "]" + value));
}

std::string operand_argument(const OptionRow& row)
{
    if (row.takes == Takes::program)
        return "'*:: :_normal'";
    return as_word(fmt::format("{}:{}:{}", row.repeated ? "*" : "",
                               in_specification(row.names.front()), action_of(row)));
}

} // namespace

std::string zsh_completion(const std::vector<CommandRow>& rows)
{
    std::string commands;
    std::string options;
    std::string cases;
    for (const CommandRow& command : rows) {
        if (command.name.empty()) {
            for (const OptionRow& option : command.options)
                options += fmt::format("{} ", fmt::join(option.names, " "));
            continue;
        }
        commands += fmt::format("        {}\n",
                                as_word(command.name + ":" + in_specification(command.what)));
        cases += fmt::format("        {})\n            _arguments -s -S -A '-*'", command.name);
        for (const OptionRow& option : command.options)
            cases += " \\\n                " + option_argument(option);
        for (const OptionRow& operand : command.operands)
            cases += " \\\n                " + operand_argument(operand);
        cases += "\n            ;;\n";
    }
    return fmt::format("{}    local -a options=({})\n    local -a commands=(\n{}    )\n{}{}{}",
                       kZshBegin, options, commands, kZshBetween, cases, kZshEnd);
}

} // namespace vramscope::manual
