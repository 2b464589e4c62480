// tools/commands/symbolize.cpp — writes names into a log, for where its program is not.
#include <algorithm>
#include <memory>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/findings/process_end.hpp"
#include "report/log/log_packing.hpp"
#include "report/log/named_log.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/output_file.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

constexpr const char* kSymbolizeFooter =
    R"(A log has addresses, and a report looks into the program and its libraries for their names. When these are written
into the log, every command says the same of it on any machine. The log is replaced, when all is written, or FILE is
written and the log stays; a packed log stays packed. What it names already stays as it is. Of several logs each is
named by itself: those before one that fails have their names.

Ends 0, also if files are missing and their frames got no names, which is said; 120 if a LOG is no readable log, or is
cut; 125 for wrong usage, for a log that a program still writes, or if the file cannot be written.

Examples:
  vramscope symbolize train.vsl                before the log leaves the machine
  vramscope symbolize job/*.vsl                each of a job's ranks
  vramscope symbolize train.vsl.zst -o /archive/train.vsl.zst
  vramscope symbolize --sysroot /srv/rootfs train.vsl
)";

struct SymbolizeOptions {
    std::vector<std::string> logs;
    std::string output; // empty: the log itself
    bool force = false;
    SymbolOptions symbols;
};

using report::Error;
using report::Exit;

void refuse_running(const report::LogFile& log)
{
    const format::FileHeader& header = log.header();
    if (header.snapshot_ticks == 0 && report::process_is_running(header.pid, header.process_start))
        throw Error(Exit::usage,
                    fmt::format("{} is still written by process {}: name it when that has ended, "
                                "or a copy: vramscope snapshot {} -o COPY",
                                log.path().string(), header.pid, header.pid));
}

Output named_output(const std::string& log, const SymbolizeOptions& options)
{
    if (options.output.empty()) {
        refuse_link(log);
        return Output(log, {}, true);
    }
    if (!options.output.starts_with("/dev/"))
        refuse_link(options.output);
    return Output(options.output, {log}, options.force, Output::Keep::every_file);
}

void write_plain(const report::LogBytes& log, OutputFile& file)
{
    std::vector<char> piece(std::size_t{1} << 20);
    for (std::uint64_t offset = 0; offset < log.bytes; offset += piece.size()) {
        piece.resize(std::min<std::uint64_t>(piece.size(), log.bytes - offset));
        if (log.read_at(offset, piece.data(), piece.size()) != piece.size())
            throw Error(Exit::bad_input,
                        fmt::format("'{}' cannot be read to its end", log.path.string()));
        file.write({piece.data(), piece.size()});
    }
}

void symbolize(const std::string& name, const SymbolizeOptions& options,
               report::Symbolizer& symbolizer)
{
    const report::LogFile log = report::LogFile::open(name);
    refuse_running(log);
    const Output output = named_output(name, options);
    const report::NamedLog named(log, symbolizer);
    const report::LogBytes bytes{log.path(), named.bytes(),
                                 [&named](std::uint64_t offset, void* out, std::size_t count) {
                                     return named.read_at(offset, out, count);
                                 }};
    OutputFile file(output, 0600); // as private as the log itself
    if (log.packed())
        report::pack_log(bytes, {}, [&file](std::string_view piece) { file.write(piece); });
    else
        write_plain(bytes, file);
    file.finish();
    if (!output.is_stdout())
        fmt::print("{}: {} named\n", report::terminal_safe(output.name()),
                   report::counted(named.named(), "place"));
}

int symbolize_logs(const SymbolizeOptions& options)
{
    if (!options.output.empty() && options.logs.size() > 1)
        throw Error(Exit::usage, "-o names the place of one named log: give one LOG with it");
    if (options.output == "-" && ::isatty(STDOUT_FILENO))
        throw Error(Exit::usage, "a log is nothing for a terminal: give it a file, -o FILE");
    report::Symbolizer symbolizer(read_symbol_options(options.symbols));
    for (const std::string& log : options.logs)
        symbolize(log, options, symbolizer);
    warn_of(symbolizer.unread_files());
    return 0;
}

} // namespace

void add_symbolize(CommandLine& line)
{
    const auto options = std::make_shared<SymbolizeOptions>();
    CLI::App& command =
        line.add("symbolize", "write names into a log, to read it where its program is not",
                 kSymbolizeFooter, symbolize_logs, options);
    command.add_option("LOG", options->logs, "a log of a program that has ended")->required();
    command.add_option("-o,--output", options->output, "the named log; else LOG is replaced")
        ->option_text("FILE");
    command.add_flag("-f,--force", options->force, "overwrite a file that is there");
    add_symbol_options(command, options->symbols);
}

} // namespace vramscope
