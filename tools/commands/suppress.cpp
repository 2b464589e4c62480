// tools/commands/suppress.cpp — rules for what logs show as leaked, and the list of those built in.
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/text/suppression_file.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kSuppressFooter =
    R"(Writes a rule for each function that leaks, in LeakSanitizer's grammar, with its leaks as comments. Read it, keep
what is known, and give it to run, report, leaks, check and diff as --suppressions FILE, or in VRAMSCOPE_SUPPRESSIONS
(several with : between them). What is suppressed is in no leaked total; reports say how much that is, and which rules
were not used.

PATTERN is looked for in the function, file and module of each frame; * is any text, ^ and $ are the name's ends:
  leak:load_labels            any function with this in its name
  leak:^train(int)$           this function and no other
  leak:src/data/*.cu          files
  leak:libdata.so             a library, and what it calls

Ends 0, also when nothing leaked; 120 if a file is no readable log; 125 for wrong usage.

Examples:
  vramscope suppress train.vsl > known.supp
  vramscope check train.vsl --suppressions known.supp
  vramscope suppress --sysroot /srv/rootfs train.vsl     recorded in a container with this root
  vramscope suppress --list-builtin
)";

struct SuppressOptions {
    std::vector<std::string> logs;
    std::string output = "-"; // this means stdout
    bool force = false;
    bool list_built_in = false;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
};

std::string built_in_list()
{
    report::Suppressions suppressions;
    suppressions.add_built_in();
    std::string text =
        "# Built in: what these libraries allocate themselves, and neither repeat nor let grow.\n"
        "# The pattern is that of the library's file name. --no-builtin-suppressions turns them "
        "off.\n";
    for (const report::SuppressionRule& rule : suppressions.rules())
        text += fmt::format("{:<22}  # {}\n", rule.pattern, rule.why);
    return text;
}

int write_rules(const SuppressOptions& options)
{
    if (!options.list_built_in && options.logs.empty())
        throw CLI::RequiredError("LOG");
    const std::vector<std::filesystem::path> logs = find_logs(options.logs);
    const Output output(options.output, inputs(logs, options.suppressions), options.force,
                        Output::Keep::every_file);
    std::ostringstream text;
    if (options.list_built_in) {
        text << built_in_list();
    } else {
        report::Options reading;
        reading.suppressions = read_suppressions(options.suppressions);
        reading.symbols = read_symbol_options(options.symbols);
        const report::Report report = read_logs(logs, std::move(reading));
        warn_of(report.unread_files);
        report::write_suppression_file(text, report);
    }
    write_text_to(output, text.str());
    return 0;
}

} // namespace

void add_suppress(CommandLine& line)
{
    const auto options = std::make_shared<SuppressOptions>();
    CLI::App& command = line.add("suppress", "write rules for what is known to leak",
                                 kSuppressFooter, write_rules, options);
    command.add_option("LOG", options->logs, "logs, or folders of them");
    command.add_option("-o,--output", options->output, "where the rules go; else to stdout")
        ->option_text("FILE");
    command.add_flag("-f,--force", options->force, "overwrite the file that -o names");
    command.add_flag("--list-builtin", options->list_built_in,
                     "print the rules for NVIDIA's libraries instead");
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
}

} // namespace vramscope
