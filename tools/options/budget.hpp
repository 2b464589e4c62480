// tools/options/budget.hpp — what a check may find.
//
// Limits come from options, or from a JSON file with keys of the same names. An option goes
// before the file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/judge/judge.hpp"
#include "report/rules/rule.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace vramscope {

struct BudgetOptions {
    std::string file;
    std::map<std::string, std::string> limits; // the key is the option without its dashes
    std::string fail_on;                       // words with commas between them; empty: not given
    bool one_device = false;
    bool allow_inconclusive = false;
    std::vector<std::string> rules;  // files
    std::vector<std::string> forbid; // each as it follows `forbid` in a file
    bool allow_unapplied = false;
};

// `needs` is an option without which these have no meaning; it may be null.
void add_budget_options(CLI::App& command, BudgetOptions& options, CLI::Option* needs);

// Throws Error (usage): one line with the option, or the file and its key.
report::Budget read_budget(const BudgetOptions& options);
report::Rules read_rules(const BudgetOptions& options);
std::vector<std::string> files_of(const BudgetOptions& options); // that these two read

extern const char* const kBudgetHelp; // for the end of a command's --help

} // namespace vramscope
