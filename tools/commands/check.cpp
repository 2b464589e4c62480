// tools/commands/check.cpp — logs against a budget, for CI.
#include "report/model/check.hpp"

#include <memory>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "report/json/json.hpp"
#include "report/page/page.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/budget.hpp"
#include "tools/options/ci_format_options.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kCheckFooter =
    R"(
Ends 0 if every budget is kept; 100 if one is not; 110 if no CUDA memory call was seen; 111 if the logs do not show it:
a crash, a test that did not end, a program that failed or still runs, a cut or damaged log, lost events, a rank without
a log. What is over its budget fails (100) in such a log too. Where programs name their tests (vramscope_gtest.h, the
plugin for pytest), each test is held against --max-leaked and --max-peak by itself, and named. 120 if a file is no readable log; 125 for wrong usage.

Examples:
  vramscope check train.vsl                              nothing may leak
  vramscope check logs/ --max-peak 8GiB --fail-on leaks,out-of-memory,misuse
  vramscope check train.vsl --budget budget.json --json check.json
  vramscope check train.vsl --sarif leaks.sarif --junit leaks.xml
  vramscope check train.vsl --rules rules.txt            what a team forbids: report/README.md has the grammar
  vramscope check train.vsl --forbid 'driver-alloc in range "step*" after first 3 of "step*"'
  vramscope check tests/ --html check.html               each budget and each test, to look at in a browser
  vramscope check train.vsl --github                     in a job of GitHub Actions
  vramscope check train.vsl --path-map /app=build/app    recorded where the program was below /app
  vramscope run --check --max-leaked 1MiB ./train        both in one step
)";

struct CheckOptions {
    std::vector<std::string> logs;
    OutputOptions output;
    BudgetOptions budget;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
    SourceOptions sources;
    CiFormatOptions ci_formats;
};

int check_logs(const CheckOptions& options)
{
    const report::Budget budget = read_budget(options.budget);
    report::Options reading;
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    reading.rules = read_rules(options.budget);
    const report::PageSources sources =
        read_source_options(options.sources, reading.symbols, options.ci_formats.source_root);
    reading.for_page = !options.output.html.empty();
    const std::vector<std::filesystem::path> logs = find_logs(options.logs);
    auto files = inputs(logs, options.suppressions, files_of(options.budget));
    const Output json(options.output.json, files, options.output.force);
    const Output html = page_output(options.output, files);
    if (html.wanted())
        files.emplace_back(options.output.html);
    const CiFormatFiles ci_formats(options.ci_formats, files, options.output.json,
                                   options.output.force);
    const report::Report report = read_logs(logs, std::move(reading));
    const report::Check check = report::check(report, budget);
    ci_formats.write(check, report);
    if (html.wanted())
        write_page(html, report::page_of(check, report, sources), options.output);
    write_results(
        json,
        [&](std::ostream& out, const report::JsonStyle& style) {
            report::write_check_json(out, check, report, style);
        },
        [&](std::ostream& out) {
            if (ci_formats.on_stdout() || html.is_stdout())
                return;
            ci_formats.tell(out, check, report, [&](std::ostream& text) {
                report::write_check(text, check, report, style_for(STDOUT_FILENO));
            });
        });
    return static_cast<int>(check.exit);
}

} // namespace

void add_check(CommandLine& line)
{
    const auto options = std::make_shared<CheckOptions>();
    CLI::App& command =
        line.add("check", "hold logs against a budget, with an exit status for CI",
                 std::string(kBudgetHelp) + kSizesHelp + kCheckFooter, check_logs, options);
    command.add_option("LOG", options->logs, "logs, or folders of them")->required();
    add_output_options(command, options->output, "the check");
    add_source_options(command, options->sources);
    add_budget_options(command, options->budget, nullptr);
    add_ci_format_options(command, options->ci_formats, nullptr);
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
