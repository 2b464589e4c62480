// tools/manual/rows.cpp — see rows.hpp.
#include "tools/manual/rows.hpp"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>

namespace vramscope::manual {
namespace {

// What --help calls a value says what it is.
Takes takes_by(const std::string& value)
{
    for (const char* name :
         {"FILE", "FILE.json", "LOG", "COPY", "BASE", "NEW", "TARGET", "OLD=NEW"})
        if (value == name)
            return Takes::file;
    if (value == "DIR")
        return Takes::folder;
    if (value == "PID")
        return Takes::process;
    return value == "PROGRAM" ? Takes::program : Takes::text;
}

template <typename Row>
std::vector<std::string> groups_in(const std::vector<Row>& rows)
{
    std::vector<std::string> groups;
    for (const Row& row : rows)
        if (std::find(groups.begin(), groups.end(), row.group) == groups.end())
            groups.push_back(row.group);
    return groups;
}

std::vector<std::string> choices_of(const CLI::Option& option)
{
    std::vector<std::string> choices;
    std::istringstream names(option.get_type_name());
    for (std::string name; std::getline(names, name, '|');)
        choices.push_back(name);
    return choices.size() > 1 ? choices : std::vector<std::string>();
}

OptionRow option_row(const CLI::Option& option)
{
    OptionRow row;
    row.what = option.get_description();
    row.group = option.get_group();
    row.repeated = option.get_items_expected_max() > 1;
    if (option.nonpositional()) {
        for (const std::string& name : option.get_snames())
            row.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames())
            row.names.push_back("--" + name);
        row.value = option.get_option_text();
    } else {
        row.names = {option.get_name(true, false)};
    }
    row.choices = choices_of(option);
    if (!row.choices.empty())
        row.takes = Takes::choice;
    else if (!option.nonpositional() || !row.value.empty())
        row.takes = takes_by(option.nonpositional() ? row.value : row.names.front());
    return row;
}

} // namespace

bool CommandRow::runs_program() const
{
    return !operands.empty() && operands.front().takes == Takes::program;
}

std::vector<std::string> CommandRow::names_with_value() const
{
    std::vector<std::string> found;
    for (const OptionRow& option : options)
        if (option.takes != Takes::nothing)
            found.insert(found.end(), option.names.begin(), option.names.end());
    return found;
}

std::vector<std::string> groups_of(const std::vector<OptionRow>& options)
{
    return groups_in(options);
}

std::vector<std::string> command_groups(const std::vector<CommandRow>& rows)
{
    return groups_in(std::vector<CommandRow>(rows.begin() + 1, rows.end()));
}

CommandRow row_of(const CLI::App& command)
{
    const bool whole = command.get_parent() == nullptr;
    CommandRow row{whole ? "" : command.get_name(),
                   command.get_description(),
                   command.get_group(),
                   {},
                   {},
                   command.get_footer()};
    for (const CLI::Option* option : command.get_options())
        if (!option->get_group().empty()) // else it is hidden
            (option->nonpositional() ? row.options : row.operands).push_back(option_row(*option));
    return row;
}

std::vector<CommandRow> rows_of(const CLI::App& app)
{
    std::vector<CommandRow> rows{row_of(app)};
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        rows.push_back(row_of(*command));
    return rows;
}

} // namespace vramscope::manual
