// tools/commands/export.cpp — one log in the format of another program.
#include <array>
#include <memory>
#include <optional>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/export_tables.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kExportFooter =
    R"(Written while the log is read: memory goes with the stacks and the live blocks, not with the events. A file appears
whole or not at all.

{}
Ends 0; 120 if LOG is no readable log; 125 for wrong usage, or if the file cannot be written.

Examples:
  vramscope export --to jsonl train.vsl | jq 'select(.type == "alloc")'
  vramscope export --to pprof -o train.pb.gz train.vsl && go tool pprof -top -sample_index=inuse_space train.pb.gz
  vramscope export --to heaptrack --device 0 -o train.txt train.vsl && heaptrack_print train.txt
  vramscope export --to pprof -o train.pb.gz --sysroot /srv/rootfs train.vsl
  vramscope export --to trace -o train.json train.vsl                open it at ui.perfetto.dev
  vramscope export --to speedscope -o train.speedscope.json train.vsl && npx speedscope train.speedscope.json
  vramscope export --to torch-snapshot -o train.pickle train.vsl     open it at pytorch.org/memory_viz
  vramscope export --to folded --sum allocated train.vsl | flamegraph.pl --countname bytes > train.svg
  vramscope export --to openmetrics -o /var/lib/node_exporter/train.prom train.vsl
  vramscope export --to sqlite -o job.db tables && sqlite3 job.db 'select rank, verdict, leaked_bytes from processes'
)";

struct ExportOptions {
    std::vector<std::string> logs; // exactly one log, or a folder with one
    std::string format;
    std::string output = "-";  // this means stdout
    bool force = false;        // overwrite what `output` names
    std::optional<int> device; // nothing means all devices
    bool all_frames = false;
    std::string sum;     // what folded stacks add up; empty: what was never freed
    bool events = false; // tables: each block too
    SymbolOptions symbols;
};

using report::Error;
using report::Exit;

struct Format {
    const char* name;
    const char* what; // how --help describes it
    void (*write)(const std::filesystem::path&, const report::Sink&, const report::ExportOptions&);
    bool binary;    // it is never written to a terminal
    bool of_memory; // it has stacks of memory, so --device and --all-frames apply
    int (*tables)(const TablesOptions&) = nullptr; // it takes many logs, and reduced tables
};
// clang-format off
constexpr std::array kFormats{
    Format{"jsonl", "every event, one JSON object a line: exact bytes, ns, hexadecimal addresses (vramscope schema events)",
           &report::export_events, false, false},
    Format{"heaptrack", "device memory, for heaptrack_print and heaptrack_gui: leaks, peak, temporary allocations",
           &report::export_heaptrack, false, true},
    Format{"pprof", "device and host memory by stack, for go tool pprof and what else reads its profiles; gzipped",
           &report::export_pprof, true, true},
    Format{"speedscope", "the same stacks, for speedscope.app: never freed and allocated, in bytes and blocks",
           &report::export_speedscope, false, true},
    Format{"folded", "a line for each stack, for flamegraph.pl and others: outer;inner BYTES; of --sum never-freed or allocated",
           &report::export_folded, false, true},
    Format{"trace", "the life of each block, marks and counters, for Perfetto (Chrome's trace events)",
           &report::export_trace, false, true},
    Format{"sanitizer", "what was never freed, block by block, wrong frees and damage, in the words of compute-sanitizer's memcheck",
           &report::export_sanitizer, false, true},
    Format{"torch-snapshot", "device memory as a memory snapshot of PyTorch, for pytorch.org/memory_viz, also of other programs",
           &report::export_torch_snapshot, true, true},
    Format{"csv", "the timeline: allocated, reserved, used by all, in at most 256 spans for each device",
           &report::export_timeline, false, false},
    Format{"blocks", "every block as comma-separated values: allocated, freed, bytes, memory, device, phase, call, line, stack",
           &report::export_blocks, false, true},
    Format{"openmetrics", "sums and peaks, for Prometheus, node_exporter's textfiles and GitLab",
           &report::export_metrics, false, false},
    Format{"sqlite", "logs and reduced tables as a database of SQLite: processes, sites, timeline; with --events each block",
           nullptr, true, false, &export_sqlite},
    Format{"csv-tables", "the same tables as files in a folder, for DuckDB, pandas and Spark: -o DIR",
           nullptr, true, false, &export_csv_tables},
};
// clang-format on

std::string export_help()
{
    std::string formats;
    for (const Format& format : kFormats)
        formats += fmt::format("  {:<14} {}\n", format.name, format.what);
    return fmt::format(kExportFooter, formats);
}

const Format& format_named(const std::string& name)
{
    std::string known;
    for (const Format& format : kFormats) {
        if (name == format.name)
            return format;
        known += (known.empty() ? "" : ", ") + std::string(format.name);
    }
    throw Error(Exit::usage, fmt::format("--to {}: it can be {}", name, known));
}

std::filesystem::path the_one_log(const std::vector<std::string>& arguments)
{
    const std::vector<std::filesystem::path> logs = find_logs(arguments);
    if (logs.size() != 1)
        throw Error(Exit::usage,
                    fmt::format("export takes one log at a time, not {}: each has its own numbers "
                                "and times",
                                logs.size()));
    return logs.front();
}

report::FoldedSum folded_sum(const ExportOptions& options)
{
    if (!options.sum.empty() && options.format != "folded")
        throw Error(Exit::usage, fmt::format("{}: --sum is for folded stacks", options.format));
    if (options.sum == "allocated")
        return report::FoldedSum::allocated;
    if (!options.sum.empty() && options.sum != "never-freed")
        throw Error(Exit::usage,
                    fmt::format("--sum {}: it can be never-freed, allocated", options.sum));
    return report::FoldedSum::never_freed;
}

int export_tables(const ExportOptions& options, const Format& format)
{
    if (options.output == "-" && format.tables == &export_csv_tables)
        throw Error(Exit::usage, "csv-tables are files in a folder: name it, -o DIR");
    return format.tables({.files = options.logs,
                          .output = options.output,
                          .force = options.force,
                          .events = options.events,
                          .symbols = options.symbols});
}

int export_log(const ExportOptions& options)
{
    const Format& format = format_named(options.format);
    if (!format.of_memory && (options.all_frames || options.device))
        throw Error(
            Exit::usage,
            fmt::format("{}: --device and --all-frames are for formats of stacks", format.name));
    const report::FoldedSum folded = folded_sum(options);
    if (options.events && format.tables == nullptr)
        throw Error(Exit::usage, fmt::format("{}: --events is for tables", format.name));
    const bool terminal = options.output == "-" && ::isatty(STDOUT_FILENO);
    if (terminal && format.binary)
        throw Error(
            Exit::usage,
            fmt::format("{} is nothing for a terminal: give it a file, -o FILE", format.name));
    if (format.tables != nullptr)
        return export_tables(options, format);
    const std::filesystem::path log = the_one_log(options.logs);
    const Output output(options.output, {log}, options.force);
    report::ExportOptions how;
    how.all_frames = options.all_frames;
    how.device = options.device;
    how.folded = folded;
    how.symbols = read_symbol_options(options.symbols);
    how.unread_files = warn_of;
    if (!terminal)
        how.progress = progress_bar();
    OutputFile file(output);
    format.write(
        log, [&file](std::string_view piece) { file.write(piece); }, how);
    file.finish();
    return 0;
}

} // namespace

void add_export(CommandLine& line)
{
    const auto options = std::make_shared<ExportOptions>();
    CLI::App& command = line.add("export", "a log in the format of another program", export_help(),
                                 export_log, options);
    command.add_option("LOG", options->logs, "a log, or a folder of one; tables: many")->required();
    std::vector<std::string> formats;
    for (const Format& format : kFormats)
        formats.emplace_back(format.name);
    offer(command.add_option("--to", options->format, "one of the formats below")
              ->required()
              ->option_text("FORMAT"),
          formats);
    command.add_option("-o,--output", options->output, "a file; else stdout")->option_text("FILE");
    command.add_flag("-f,--force", options->force, kForceHelp);
    command
        .add_option("--device", options->device, "formats of stacks: only memory of this device")
        ->check([](const std::string& value) {
            return value.find_first_not_of("0123456789") == value.npos
                       ? std::string()
                       : fmt::format("write a device's number, not '{}'", value);
        })
        ->option_text("N");
    command
        .add_flag("--all-frames", options->all_frames,
                  "formats of stacks: with the frames of the CUDA runtime and of vramscope")
        ->group(kNamesGroup);
    offer(command
              .add_option("--sum", options->sum,
                          "folded stacks: bytes that were never-freed, as is usual, or allocated")
              ->option_text("WHAT"),
          {"never-freed", "allocated"});
    command.add_flag("--events", options->events, "tables: also a row for each block");
    add_symbol_options(command, options->symbols);
}

} // namespace vramscope
