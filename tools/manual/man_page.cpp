// tools/manual/man_page.cpp — see man_page.hpp.
#include "tools/manual/man_page.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/completions.hpp"

namespace vramscope::manual {
namespace {

// A line of text, none of it a request. A hyphen is written so that it can be copied as one.
std::string in_roff(std::string text)
{
    text = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    return text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text;
}

std::string bold(const std::string& text)
{
    return "\\fB" + in_roff(text) + "\\fR";
}

std::string heading(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return std::toupper(letter); });
    return ".SH " + in_roff(text) + "\n";
}

std::string option_entry(const OptionRow& row)
{
    std::vector<std::string> names;
    for (const std::string& name : row.names)
        names.push_back(bold(name));
    return fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "),
                       row.value.empty() ? "" : " \\fI" + in_roff(row.value) + "\\fR",
                       in_roff(row.what));
}

// What --help says below the options: lines that are indented stand as they are, the others are
// filled, and a line like "Examples:" is a heading.
std::string text_of(const std::string& help)
{
    std::string text;
    bool as_it_is = false;
    const auto fill = [&](bool filled) {
        if (as_it_is == filled)
            text += filled ? ".fi\n" : ".nf\n";
        as_it_is = !filled;
    };
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        const bool indented = line.starts_with(' ');
        if (line.empty()) {
            fill(true);
            text += ".PP\n";
        } else if (line.ends_with(':') && line.find(' ') == line.npos) {
            fill(true);
            line.pop_back();
            text += heading(line);
        } else {
            fill(!indented);
            text += in_roff(line) + "\n";
        }
    }
    fill(true);
    return replaced(replaced(text, ".PP\n.SH", ".SH"), ".PP\n.PP\n", ".PP\n");
}

std::string options_of(const CommandRow& row)
{
    std::string text;
    for (const std::string& group : groups_of(row.options)) {
        text += heading(group);
        for (const OptionRow& option : row.options)
            if (option.group == group)
                text += option_entry(option);
    }
    return text;
}

std::string page_name(const CommandRow& row)
{
    return row.name.empty() ? "vramscope" : "vramscope-" + row.name;
}

std::string synopsis(const CommandRow& row)
{
    std::string text = bold(row.name.empty() ? "vramscope" : "vramscope " + row.name);
    text += row.name.empty() ? " \\fICOMMAND\\fR" : "";
    text += " [\\fIOPTIONS\\fR]";
    for (const OptionRow& operand : row.operands)
        text += fmt::format(" \\fI{}\\fR{}", in_roff(operand.names.front()),
                            operand.repeated ? "..." : "");
    return text + "\n";
}

std::string commands_of(const std::vector<CommandRow>& rows)
{
    std::string text = ".SH COMMANDS\n";
    for (const std::string& group : command_groups(rows)) {
        text += ".SS " + in_roff(group) + "\n";
        for (const CommandRow& row : rows)
            if (row.group == group && !row.name.empty())
                text += fmt::format(".TP\n{}(1)\n{}\n", bold(page_name(row)), in_roff(row.what));
    }
    return text;
}

} // namespace

std::string man_page(const std::vector<CommandRow>& rows, const std::string& name,
                     const std::string& version)
{
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const CommandRow& one) { return one.name == name; });
    if (row == rows.end())
        throw std::out_of_range("no command " + name);
    std::string what = row->what;
    while (what.ends_with('.'))
        what.pop_back();
    std::string text = fmt::format(".TH {0} 1 \"\" \"vramscope {1}\" vramscope\n.nh\n.ad l\n.SH "
                                   "NAME\n{0} \\- {2}\n.SH SYNOPSIS\n",
                                   in_roff(page_name(*row)), in_roff(version), in_roff(what));
    text += synopsis(*row);
    if (name.empty())
        text += commands_of(rows);
    if (!row->operands.empty())
        text += ".SH OPERANDS\n";
    for (const OptionRow& operand : row->operands)
        text += option_entry(operand);
    text += options_of(*row);
    std::string more = row->more;
    more.erase(0, more.find_first_not_of('\n'));
    if (!more.starts_with("Examples:"))
        text += ".SH NOTES\n";
    text += text_of(more);
    return text + ".SH SEE ALSO\n" +
           (name.empty() ? "The folder share/doc/vramscope of the installation.\n"
                         : bold("vramscope") + "(1)\n");
}

} // namespace vramscope::manual
