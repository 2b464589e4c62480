// tools/manual/bash.cpp — completion for bash: two tables as `case` statements, and their reader.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/completions.hpp"

namespace vramscope::manual {
namespace {

constexpr const char* kBashBegin =
    R"(# Completion of vramscope for bash, made by `vramscope completion bash`.

_vramscope_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]#=}"); }

_vramscope_paths() {
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen "$1" -- "${COMP_WORDS[COMP_CWORD]#=}")
}

# The program that is run, and its arguments, are completed as if they stood alone.
_vramscope_program() {
    local at with_value=$1
    for ((at = 2; at < COMP_CWORD; ++at)); do
        [[ ${COMP_WORDS[at]} == -- ]] && ((++at)) && break
        [[ ${COMP_WORDS[at]} == -* ]] || break
        if [[ ${COMP_WORDS[at + 1]} == = ]]; then
            ((at += 2))
        elif [[ " $with_value " == *" ${COMP_WORDS[at]} "* ]]; then
            ((++at))
        fi
    done
    ((at <= COMP_CWORD)) || return 1
    [[ ${COMP_WORDS[at]} != -* || ${COMP_WORDS[at - 1]} == -- ]] || return 1
    if declare -F _command_offset >/dev/null; then
        _command_offset "$at"
    elif ((at == COMP_CWORD)); then
        _vramscope_paths -c
    else
        _vramscope_paths -f
    fi
}

_vramscope() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    [[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
)";

constexpr const char* kBashEnd = R"(}

# A command that is a program of its own too.
_vramscope_memcheck() {
    COMP_LINE="vramscope memcheck${COMP_LINE#*vramscope-memcheck}"
    COMP_WORDS=(vramscope memcheck "${COMP_WORDS[@]:1}")
    ((++COMP_CWORD))
    _vramscope
}

complete -F _vramscope vramscope
complete -F _vramscope_memcheck vramscope-memcheck
)";

std::string values_of(const OptionRow& row)
{
    switch (row.takes) {
    case Takes::choice:
        return fmt::format("_vramscope_words {}",
                           as_word(fmt::format("{}", fmt::join(row.choices, " "))));
    case Takes::file:
        return "_vramscope_paths -f";
    case Takes::folder:
        return "_vramscope_paths -d";
    case Takes::process:
        return "_vramscope_words \"$(vramscope completion --pids 2>/dev/null | cut -f 1)\"";
    case Takes::program:
    case Takes::text:
    case Takes::nothing:
        break;
    }
    return ":"; // nothing that could be known here
}

std::string values_case(const std::vector<CommandRow>& rows)
{
    std::string text = "    case \"${COMP_WORDS[1]} $before\" in\n";
    for (const CommandRow& command : rows)
        for (const OptionRow& option : command.options) {
            if (option.takes == Takes::nothing)
                continue;
            std::string names;
            for (const std::string& name : option.names)
                names += fmt::format("{}'{} {}'", names.empty() ? "" : " | ", command.name, name);
            text += fmt::format("        {}) {}; return ;;\n", names, values_of(option));
        }
    return text + "    esac\n";
}

std::string commands_case(const std::vector<CommandRow>& rows)
{
    std::string text = "    case ${COMP_WORDS[1]} in\n";
    for (const CommandRow& command : rows) {
        if (command.name.empty())
            continue;
        std::vector<std::string> options;
        for (const OptionRow& option : command.options)
            options.insert(options.end(), option.names.begin(), option.names.end());
        text += fmt::format("        {})\n", command.name);
        if (command.runs_program())
            text += fmt::format("            _vramscope_program '{}' && return\n",
                                fmt::join(command.names_with_value(), " "));
        text +=
            fmt::format("            [[ $word != -* ]] || {{ _vramscope_words '{}'; return; }}\n",
                        fmt::join(options, " "));
        if (!command.operands.empty() && !command.runs_program())
            text += fmt::format("            {}\n", values_of(command.operands.front()));
        text += "            ;;\n";
    }
    return text + "    esac\n";
}

} // namespace

std::string bash_completion(const std::vector<CommandRow>& rows)
{
    std::string first; // what may stand at the beginning
    for (const CommandRow& command : rows) {
        if (!command.name.empty())
            first += command.name + " ";
        else
            for (const OptionRow& option : command.options)
                first += fmt::format("{} ", fmt::join(option.names, " "));
    }
    return kBashBegin +
           fmt::format("    ((COMP_CWORD > 1)) || {{ _vramscope_words '{}'; return; }}\n", first) +
           values_case(rows) + commands_case(rows) + kBashEnd;
}

} // namespace vramscope::manual
