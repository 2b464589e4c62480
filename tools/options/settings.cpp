// tools/options/settings.cpp — rows of settings.def as help and as options.
#include "tools/options/settings.hpp"

#include <string_view>

#include <fmt/format.h>

#include "report/error.hpp"
#include "tools/options/usage.hpp"
#include "tracker/environment/settings.hpp"

namespace vramscope {
namespace {

struct Row {
    std::string_view variable;
    std::string_view fallback;
    std::string_view scope;
    std::string_view valid;
    std::string_view help;

    bool shown() const { return scope != "inner"; }
    bool can_be_set() const { return shown() && variable != "VRAMSCOPE_LOG"; } // that is -o
    // As --set calls it: VRAMSCOPE_MAX_CACHED is max_cached.
    std::string name() const
    {
        std::string text(variable.substr(std::string_view("VRAMSCOPE_").size()));
        for (char& letter : text)
            letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        return text;
    }
};

constexpr Row kRows[] = {
#define VRAMSCOPE_SETTING(field, kind, environment, fallback, scope, valid, help)                  \
    {environment, fallback, #scope, valid, help},
#include "tracker/environment/settings.def"
};

[[noreturn]] void refuse_setting(const std::string& line)
{
    throw report::Error(report::Exit::usage, line);
}

const Row& row_of(std::string_view name)
{
    std::string names;
    for (const Row& row : kRows) {
        if (!row.can_be_set())
            continue;
        if (row.name() == name)
            return row;
        names += (names.empty() ? "" : ", ") + row.name();
    }
    refuse_setting(fmt::format("--set {}: there is no such setting; there are {}", name, names));
}

} // namespace

std::string settings_help()
{
    std::string text =
        "\nSettings of the traced program: variables of the environment, shown with their "
        "defaults. "
        "With --set in\nsmall letters and without VRAMSCOPE_: --set stack_depth=16\n";
    text += kSizesHelp;
    for (const Row& row : kRows)
        if (row.shown())
            text += fmt::format("  {}={}\n        {}\n        use {}\n", row.variable, row.fallback,
                                row.help, row.valid);
    return text;
}

std::vector<std::string> settings_to_choose()
{
    std::vector<std::string> texts;
    for (const Row& row : kRows)
        if (row.can_be_set())
            texts.push_back(row.name() + "=");
    return texts;
}

std::vector<std::pair<std::string, std::string>>
chosen_settings(const std::vector<std::string>& settings, const std::string& pool)
{
    std::vector<std::string> texts = settings;
    if (!pool.empty())
        texts.insert(texts.begin(), "pool=" + pool);
    std::vector<std::pair<std::string, std::string>> chosen;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos)
            refuse_setting(fmt::format("--set {}: write NAME=VALUE, such as limit=8GiB", text));
        const std::string variable(row_of(text.substr(0, equals)).variable);
        const std::string value = text.substr(equals + 1);
        char complaint[log::kComplaintBytes];
        log::check_setting(variable.c_str(), value.c_str(), complaint);
        if (*complaint)
            refuse_setting(complaint);
        chosen.emplace_back(variable, value);
    }
    return chosen;
}

} // namespace vramscope
