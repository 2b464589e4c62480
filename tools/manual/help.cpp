// tools/manual/help.cpp — see help.hpp.
#include "tools/manual/help.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/rows.hpp"

namespace vramscope::manual {
namespace {

constexpr std::size_t kMostNameColumns = 26;
constexpr std::size_t kLeastRoom = 20;

using Entries = std::vector<std::pair<std::string, std::string>>; // names, and what they mean

class Text {
public:
    explicit Text(std::size_t width) : width_(width) {}

    // Words behind `head`, and in further lines below their beginning.
    void filled(std::string head, std::string_view words)
    {
        const std::size_t indent = head.size();
        std::istringstream all{std::string(words)};
        std::string line = std::move(head);
        bool empty = true;
        for (std::string word; all >> word; empty = false) {
            if (!empty && line.size() + 1 + word.size() > std::max(width_, indent + kLeastRoom)) {
                text_ += line + '\n';
                line.assign(indent, ' ');
                empty = true;
            }
            line += (empty ? "" : " ") + word;
        }
        text_ += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }

    void entries(const std::string& heading, const Entries& entries)
    {
        if (entries.empty())
            return;
        std::size_t columns = 0;
        for (const auto& [names, what] : entries)
            columns = std::max(columns, std::min(names.size(), kMostNameColumns));
        text_ += '\n' + heading + ":\n";
        for (const auto& [names, what] : entries) {
            const bool long_name = names.size() > columns;
            if (long_name)
                text_ += "  " + names + '\n';
            filled(fmt::format("  {:<{}}  ", long_name ? "" : names, columns), what);
        }
    }

    // What is indented: a command of an example is never cut, it is there to be copied.
    void as_it_is(const std::string& line)
    {
        const std::size_t begin = line.find_first_not_of(' ');
        const std::size_t gap = line.find("  ", begin);
        const std::size_t said = gap == line.npos ? gap : line.find_first_not_of(' ', gap);
        const bool command = line.compare(begin, 10, "vramscope ") == 0;
        if (line.size() <= width_ || (command && said == line.npos)) {
            text_ += line + '\n';
        } else if (said == line.npos) {
            filled(line.substr(0, begin), line.substr(begin));
        } else if (said + kLeastRoom <= width_) {
            filled(line.substr(0, said), line.substr(said));
        } else {
            text_ += line.substr(0, gap) + '\n';
            filled(std::string(begin + 4, ' '), line.substr(said));
        }
    }

    // Paragraphs, and lines that are indented.
    void more(const std::string& help)
    {
        std::string paragraph;
        const auto end_paragraph = [&] {
            if (!paragraph.empty())
                filled("", std::exchange(paragraph, ""));
        };
        std::istringstream lines(help);
        for (std::string line; std::getline(lines, line);) {
            if (!line.empty() && line.front() != ' ') {
                paragraph += line + ' ';
                continue;
            }
            end_paragraph();
            line.empty() ? text_ += '\n' : (as_it_is(line), text_);
        }
        end_paragraph();
    }

    void line(const std::string& line) { text_ += line + '\n'; }

    // Without empty lines of which nothing is the reason.
    std::string take()
    {
        for (std::size_t at; (at = text_.find("\n\n\n")) != text_.npos;)
            text_.erase(at, 1);
        return std::move(text_);
    }

private:
    std::size_t width_;
    std::string text_;
};

Entries entries_of(const std::vector<OptionRow>& options, const std::string& group)
{
    Entries entries;
    for (const OptionRow& option : options)
        if (option.group == group)
            entries.emplace_back(fmt::format("{}{}", fmt::join(option.names, ", "),
                                             option.value.empty() ? "" : " " + option.value),
                                 option.what);
    return entries;
}

// What follows the examples is in --help-all.
std::string without_rest(const std::string& help)
{
    const std::size_t examples = help.find("Examples:\n");
    const std::size_t end = examples == help.npos ? examples : help.find("\n\n", examples);
    return help.substr(0, end == help.npos ? end : end + 1);
}

// The headings of what --help leaves out.
std::vector<std::string> left_out(const CommandRow& row)
{
    std::vector<std::string> names = groups_of(row.options);
    names.erase(names.begin());
    if (without_rest(row.more).size() < row.more.size())
        names.emplace_back("all settings");
    return names;
}

void add_commands(Text& text, const CLI::App& app)
{
    const std::vector<CommandRow> rows = rows_of(app);
    for (const std::string& group : command_groups(rows)) {
        Entries entries;
        for (const CommandRow& row : rows)
            if (row.group == group && !row.name.empty())
                entries.emplace_back(row.name, row.what);
        text.entries(group, entries);
    }
}

} // namespace

bool has_more(const CLI::App& command)
{
    return !left_out(row_of(command)).empty();
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const
{
    const CommandRow row = row_of(*app);
    const bool of_all = app->get_parent() == nullptr;
    const bool whole = mode != CLI::AppFormatMode::Normal;
    Text text(width_);
    text.filled("", row.what);
    std::string usage = fmt::format("Usage: {}{} [OPTIONS]", name, of_all ? " COMMAND" : "");
    for (const OptionRow& operand : row.operands)
        usage += fmt::format(" {}{}", operand.names.front(), operand.repeated ? "..." : "");
    text.line(usage);
    Entries operands;
    for (const OptionRow& operand : row.operands)
        operands.emplace_back(operand.names.front(), operand.what);
    text.entries("Operands", operands);
    const std::vector<std::string> groups = groups_of(row.options);
    for (std::size_t at = 0; at < (whole ? groups.size() : 1); ++at)
        text.entries(groups[at], entries_of(row.options, groups[at]));
    if (of_all)
        add_commands(text, *app);
    text.line("");
    text.more(whole ? row.more : without_rest(row.more));
    if (const std::vector<std::string> more = left_out(row); !whole && !more.empty()) {
        text.line("");
        text.filled("", fmt::format("{} --help-all has more: {}.", name, fmt::join(more, ", ")));
    }
    return text.take();
}

} // namespace vramscope::manual
