// tools/options/usage.cpp — see usage.hpp.
#include "tools/options/usage.hpp"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/error.hpp"

namespace vramscope {
namespace {

// Letters to insert, leave out, change or swap with their neighbour.
std::size_t distance(std::string_view one, std::string_view other)
{
    std::vector<std::size_t> before_last;
    std::vector<std::size_t> last;
    std::vector<std::size_t> row(other.size() + 1);
    for (std::size_t i = 0; i <= other.size(); ++i)
        row[i] = i;
    for (std::size_t at = 1; at <= one.size(); ++at) {
        before_last = std::exchange(last, row);
        row[0] = at;
        for (std::size_t to = 1; to <= other.size(); ++to) {
            const bool same = one[at - 1] == other[to - 1];
            row[to] = std::min({last[to] + 1, row[to - 1] + 1, last[to - 1] + (same ? 0 : 1)});
            if (at > 1 && to > 1 && one[at - 1] == other[to - 2] && one[at - 2] == other[to - 1])
                row[to] = std::min(row[to], before_last[to - 2] + 1);
        }
    }
    return row[other.size()];
}

bool takes_values(const CLI::Option& option)
{
    return !option.get_positional() && option.get_items_expected_max() > 0;
}

// How many of the arguments behind this one are its values: "--json" has one, "--json=x" none.
std::size_t values_behind(const CLI::App& command, const std::string& argument)
{
    const CLI::Option* option =
        argument.starts_with('-') ? command.get_option_no_throw(argument) : nullptr;
    return option && takes_values(*option) ? static_cast<std::size_t>(option->get_type_size()) : 0;
}

std::string or_its_nearest(const std::string& what, const std::string& near,
                           const std::string& help)
{
    return near.empty() ? fmt::format("{} (see `{} --help`)", what, help)
                        : fmt::format("{}: did you mean '{}'? (see `{} --help`)", what, near, help);
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names)
{
    std::string found;
    std::size_t least = std::min<std::size_t>(word.size() / 3 + 1, 3) + 1;
    for (const std::string& name : names) {
        const bool begun = word.size() >= 3 && name.starts_with(word);
        const std::size_t far = begun ? 1 : distance(word, name);
        if (far < least && far < word.size()) {
            least = far;
            found = name;
        }
    }
    return found;
}

void offer(CLI::Option* option, const std::vector<std::string>& words)
{
    option->type_name(fmt::format("{}", fmt::join(words, "|"))); // --help shows no types
}

void check_command_name(const CLI::App& app, const std::vector<std::string>& arguments)
{
    const std::string& word = arguments.front();
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end())
        return;
    throw report::Error(report::Exit::usage,
                        or_its_nearest(fmt::format("unknown command '{}'", word),
                                       nearest(word, names), "vramscope"));
}

std::vector<std::string> take_program(const CLI::App& command, std::vector<std::string>& arguments)
{
    std::size_t at = 1;
    for (; at < arguments.size(); ++at) {
        const std::string& argument = arguments[at];
        if (argument == "--" || !argument.starts_with('-') || argument == "-")
            break;
        at += values_behind(command, argument);
    }
    at = std::min(at, arguments.size());
    const bool dashes = at < arguments.size() && arguments[at] == "--";
    const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<std::string> program(begin + (dashes ? 1 : 0), arguments.end());
    arguments.erase(begin, arguments.end());
    return program;
}

void take_only_positive(CLI::Option* option)
{
    option->check([](const std::string& value) {
        const bool is_whole = value.find_first_not_of("0123456789") == value.npos;
        return is_whole && value.find_first_not_of('0') != value.npos
                   ? std::string()
                   : fmt::format("write a whole number above 0, not '{}'", value);
    });
}

void refuse_wrong_values(CLI::App& command, std::vector<std::string>& arguments)
{
    for (std::size_t at = 1; at < arguments.size() && arguments[at] != "--"; ++at) {
        const std::size_t values = values_behind(command, arguments[at]);
        const std::string name = arguments[at].substr(0, arguments[at].find('='));
        const CLI::Option* const named = command.get_option_no_throw(name);
        if (named && name != arguments[at] && !takes_values(*named))
            throw report::Error(report::Exit::usage,
                                fmt::format("{} takes no value: '{}'", name, arguments[at]));
        if (name.starts_with("--") && arguments[at] == name + "=" &&
            values_behind(command, name) > 0) {
            arguments[at++] = name;
            arguments.emplace(arguments.begin() + static_cast<std::ptrdiff_t>(at)); // an empty one
        }
        at += values;
    }
    for (CLI::Option* const option : command.get_options())
        if (takes_values(*option))
            option->check([what = option->get_option_text()](const std::string& value) {
                return value.empty() ? fmt::format("its value is empty: write {}",
                                                   what.empty() ? "one" : what)
                                     : std::string();
            });
}

// "Could not convert: --interval = x", as CLI11 says it.
std::string words_of(const CLI::ParseError& error)
{
    constexpr std::string_view kNoNumber = "Could not convert: ";
    const std::string_view words = error.what();
    return words.starts_with(kNoNumber)
               ? fmt::format("{}: no number, or too large a one", words.substr(kNoNumber.size()))
               : std::string(words);
}

std::string usage_line(const CLI::App& app, const CLI::ParseError& error)
{
    std::string command = "vramscope";
    const CLI::App* chosen = &app;
    for (const CLI::App* one : app.get_subcommands()) {
        chosen = one;
        command += " " + one->get_name();
    }
    const std::vector<std::string> extras = app.remaining(true);
    const auto option = std::find_if(extras.begin(), extras.end(), [](const std::string& argument) {
        return argument.size() > 1 && argument.front() == '-' && argument != "--";
    });
    if (option == extras.end())
        return or_its_nearest(words_of(error), "", command);
    std::vector<std::string> names;
    for (const CLI::Option* known : chosen->get_options())
        if (!known->get_group().empty()) // else it is hidden
            names.insert(names.end(), known->get_lnames().begin(), known->get_lnames().end());
    const std::size_t name_at = option->find_first_not_of('-');
    const std::string word =
        name_at == std::string::npos ? "" : option->substr(name_at, option->find('=') - name_at);
    const std::string near = nearest(word, names);
    return or_its_nearest(fmt::format("unknown option '{}'", *option),
                          near.empty() ? "" : "--" + near, command);
}

} // namespace vramscope
