// tools/options/usage.hpp — how a mistyped word is answered, and what several options have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
} // namespace CLI

namespace vramscope {

// Error (125), naming the nearest command, if the first argument is neither command nor option.
// There is one argument at least.
void check_command_name(const CLI::App& app, const std::vector<std::string>& arguments);

// One line for what CLI11 refused: what, where, the option that was probably meant, the help.
std::string usage_line(const CLI::App& app, const CLI::ParseError& error);

// The words that an option takes: shells offer them. Whether one is right is for its reader to say.
void offer(CLI::Option* option, const std::vector<std::string>& words);

// Cuts PROGRAM and what follows it off the arguments of a command: that part is never ours to
// understand. `command` knows its options by now.
std::vector<std::string> take_program(const CLI::App& command, std::vector<std::string>& arguments);

// A process's number, or how many times: whole, and above 0.
void take_only_positive(CLI::Option* option);

// From now on an empty value of an option is an error, also as "--name=", for which CLI11 would
// take the next argument. Error (usage) for the value of an option that takes none, "--flag=2". Of
// the arguments the first is the command's name.
void refuse_wrong_values(CLI::App& command, std::vector<std::string>& arguments);

// What read_size() takes (tracker/format/size_text.hpp), for the end of a command's --help.
inline constexpr const char* kSizesHelp =
    "Sizes are bytes, or have a unit behind them: K, M, G or T, with or without B or iB, powers of "
    "1024: 4096,\n64M, 1.5GiB.\n";

// The name in `names` that `word` was probably meant to be; empty: none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

} // namespace vramscope
