// tools/commands/pack.cpp — makes a log of a program that has ended small.
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/findings/process_end.hpp"
#include "report/log/log_packing.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/output_file.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;
using report::Error;
using report::Exit;

constexpr const char* kPackFooter =
    R"(Every command reads a packed log as it is: vramscope report train.vsl.zst. It is a file of zstd with a table of its
frames: `zstd -d` makes the log of it again, byte by byte, and `zstd -t` tests it. The log itself stays, unless --rm is
given. A log that a program still writes is not packed; a copy that `vramscope snapshot PID -o COPY` made of it can be.

Ends 0; 120 if a file is no readable log; 125 for wrong usage, or if a file cannot be written.

Examples:
  vramscope pack train.vsl                     writes train.vsl.zst
  vramscope pack --rm job/*.vsl                each beside its log, in place of it
  vramscope pack --level 19 train.vsl -o /archive/train.vsl.zst
)";

struct PackOptions {
    std::vector<std::string> logs;
    std::string output; // empty: beside the log
    report::Packing packing;
    bool remove = false;
    bool force = false;
};

report::LogFile open_closed(const std::string& name)
{
    report::LogFile log = report::LogFile::open(name, report::LogFile::Collected::taken);
    const format::FileHeader& header = log.header();
    if (log.packed())
        throw Error(Exit::usage, fmt::format("{} is packed already", name));
    if (header.snapshot_ticks == 0 && report::process_is_running(header.pid, header.process_start))
        throw Error(Exit::usage,
                    fmt::format("{} is still written by process {}: pack it when that has ended, "
                                "or a copy: vramscope snapshot {} -o COPY",
                                name, header.pid, header.pid));
    return log;
}

void pack(const std::string& name, const PackOptions& options)
{
    const report::LogFile log = open_closed(name);
    const std::string place = options.output.empty() ? name + ".zst" : options.output;
    if (!options.output.starts_with("/dev/"))
        refuse_link(place);
    const Output output(place, {name}, options.force, Output::Keep::every_file);
    OutputFile file(output, 0600); // as private as the log itself
    std::uint64_t bytes = 0;
    report::pack_log(log, options.packing, [&](std::string_view piece) {
        file.write(piece);
        bytes += piece.size();
    });
    if (options.remove && ::fsync(file.descriptor()) != 0)
        file.fail();
    file.finish();
    if (options.remove && !fs::remove(name))
        throw Error(Exit::usage, fmt::format("{} was packed, but is gone by now", name));
    if (!output.is_stdout())
        fmt::print("{}: {}, {:.1f} % of {}\n", report::terminal_safe(place),
                   report::human_bytes(bytes),
                   100 * static_cast<double>(bytes) / static_cast<double>(log.bytes()),
                   report::human_bytes(log.bytes()));
}

int pack_logs(const PackOptions& options)
{
    if (!options.output.empty() && options.logs.size() > 1)
        throw Error(Exit::usage, "-o names the place of one packed log: give one LOG with it");
    if (options.output == "-" && options.remove)
        throw Error(Exit::usage, "--rm is for packed logs that are files, not for -o -");
    if (options.output == "-" && ::isatty(STDOUT_FILENO))
        throw Error(Exit::usage, "a packed log is nothing for a terminal: give it a file, -o FILE");
    for (const std::string& log : options.logs)
        pack(log, options);
    return 0;
}

} // namespace

void add_pack(CommandLine& line)
{
    const auto options = std::make_shared<PackOptions>();
    CLI::App& command = line.add("pack", "make a log small; all commands read it as it is",
                                 kPackFooter, pack_logs, options);
    command.add_option("LOG", options->logs, "a log of a program that has ended")->required();
    command.add_option("-o,--output", options->output, "the packed log; else LOG.zst")
        ->option_text("FILE");
    command
        .add_option("--level", options->packing.level,
                    fmt::format("from {}, the fastest, to {}, the smallest; {} is usual",
                                report::Packing::kFastest, report::Packing::kSmallest,
                                options->packing.level))
        ->check(CLI::Range(report::Packing::kFastest, report::Packing::kSmallest))
        ->option_text("N");
    command.add_flag("--rm", options->remove, "remove the log when it is packed");
    command.add_flag("-f,--force", options->force, "overwrite a file that is there");
}

} // namespace vramscope
