// tools/manual/rows.hpp — the commands and their options as rows, for manual pages and completion.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace vramscope::manual {

enum class Takes { nothing, text, choice, file, folder, program, process };

struct OptionRow {
    std::vector<std::string> names;   // -o, --output; of what stands by itself: LOG
    std::string value;                // FILE, as --help has it; empty where it takes none
    std::string what;                 // its line in --help
    std::string group;                // the heading above it in --help
    std::vector<std::string> choices; // where it takes one of these: see offer() in usage.hpp
    Takes takes = Takes::nothing;
    bool repeated = false;
};

struct CommandRow {
    std::string name; // empty: vramscope itself
    std::string what;
    std::string group; // the heading above it in `vramscope --help`
    std::vector<OptionRow> options;
    std::vector<OptionRow> operands; // what stands by itself, as LOG
    std::string more;                // what --help says below the options

    bool runs_program() const; // what follows PROGRAM is then not ours to complete
    std::vector<std::string> names_with_value() const; // the options that take one
};

// In the order in which --help has them.
std::vector<std::string> groups_of(const std::vector<OptionRow>& options);

CommandRow row_of(const CLI::App& command);

// vramscope itself, then each command in the order of --help. Hidden options are left out.
std::vector<CommandRow> rows_of(const CLI::App& app);

// The headings above them, but for that of vramscope itself.
std::vector<std::string> command_groups(const std::vector<CommandRow>& rows);

} // namespace vramscope::manual
