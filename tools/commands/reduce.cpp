// tools/commands/reduce.cpp — one small table of each log, for a join of many ranks.
#include <memory>

#include <CLI/CLI.hpp>

#include "report/job/joined_table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/job_files.hpp"
#include "tools/commands/kept_names.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kReduceFooter =
    R"(Of each log the process, its devices, the timeline and every call place that allocated, with what it leaked and how
it grows: JSON lines, some 100 bytes a place. `vramscope job` joins them, and logs that have none; `vramscope schema
reduced` says what is in them. `vramscope run --reduced DIR` writes one at the end of each rank, where it ran; where a
table of another process has the name, as of a run before, a number makes it another: LOG.1.jsonl. Tables
become one table, with the same bytes in whatever order and groups they are joined: a tree of joins is one join.

Ends 0; 120 if a file is neither a readable log nor a table; 125 for wrong usage, or if the file cannot be written.

Examples:
  vramscope reduce -o rank.7.jsonl rank.7.vsl
  vramscope reduce -o job.jsonl tables                  many tables as one file
  find logs -name '*.vsl' | xargs -P 8 -I{} vramscope reduce -o {}.jsonl {}
  vramscope reduce rank.7.vsl | jq -c 'select(.type == "process") | [.rank, .leaked_bytes]'
)";

struct ReduceOptions {
    std::vector<std::string> files;
    std::string output = "-";
    bool force = false;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
    bool no_cache = false;
};

int reduce_logs(const ReduceOptions& options)
{
    const std::vector<std::filesystem::path> files = find_job_files(options.files);
    refuse_rules_for_tables(files, options.suppressions);
    const Output output(options.output, inputs(files, options.suppressions), options.force);
    report::Options reading;
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    reading.symbols.names = names_kept(options.no_cache);
    reading.all_sites = true;
    report::Symbolizer symbolizer(reading.symbols);
    reading.symbolizer = &symbolizer;
    report::JoinedTable joined;
    for (const std::filesystem::path& file : files)
        read_job_file(file, reading, [&](std::istream& table, const report::Report* of_log) {
            of_log ? joined.add_own(table) : joined.add(table, file.string());
        });
    OutputFile file(output);
    joined.write([&file](const std::string& text) { file.write(text); });
    file.finish();
    return 0;
}

} // namespace

void add_reduce(CommandLine& line)
{
    const auto options = std::make_shared<ReduceOptions>();
    CLI::App& command = line.add("reduce", "a small table of each log, for `job` to join",
                                 kReduceFooter, reduce_logs, options);
    command.add_option("FILE", options->files, "logs, reduced tables, or folders of them")
        ->required();
    command.add_option("-o,--output", options->output, "a file; else stdout")->option_text("FILE");
    command.add_flag("-f,--force", options->force, kForceHelp);
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
    add_cache_option(command, options->no_cache);
}

} // namespace vramscope
