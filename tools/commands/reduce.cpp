// tools/commands/reduce.cpp — one small table of each log, for a join of many ranks.
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>

#include "report/exporters/reduced.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kReduceFooter =
    R"(Of each log the process, its devices, the timeline and every call place that allocated, with what it leaked and how
it grows: JSON lines, some 100 bytes a place. `vramscope job` joins them, and logs that have none; `vramscope schema
reduced` says what is in them. `vramscope run --reduced DIR` writes one at the end of each rank, where it ran.

Ends 0; 120 if a file is no readable log; 125 for wrong usage, or if the file cannot be written.

Examples:
  vramscope reduce -o rank.7.jsonl rank.7.vsl
  find logs -name '*.vsl' | xargs -P 8 -I{} vramscope reduce -o {}.jsonl {}
  vramscope reduce rank.7.vsl | jq -c 'select(.type == "process") | [.rank, .leaked_bytes]'
)";

struct ReduceOptions {
    std::vector<std::string> logs;
    std::string output = "-";
    bool force = false;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
};

int reduce_logs(const ReduceOptions& options)
{
    const std::vector<std::filesystem::path> logs = find_logs(options.logs);
    const Output output(options.output, inputs(logs, options.suppressions), options.force);
    report::Options reading;
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    reading.all_sites = true;
    report::Symbolizer symbolizer(reading.symbols);
    reading.symbolizer = &symbolizer;
    OutputFile file(output);
    const auto write = [&file](const std::ostringstream& text) { file.write(text.str()); };
    std::ostringstream head;
    report::begin_reduced(head);
    write(head);
    for (const std::filesystem::path& log : logs) {
        std::ostringstream rows;
        report::write_reduced(rows, read_logs({log}, reading));
        write(rows);
    }
    file.finish();
    return 0;
}

} // namespace

void add_reduce(CommandLine& line)
{
    const auto options = std::make_shared<ReduceOptions>();
    CLI::App& command = line.add("reduce", "a small table of each log, for `job` to join",
                                 kReduceFooter, reduce_logs, options);
    command.add_option("LOG", options->logs, "logs, or folders of them")->required();
    command.add_option("-o,--output", options->output, "a file; else stdout")->option_text("FILE");
    command.add_flag("-f,--force", options->force, kForceHelp);
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
