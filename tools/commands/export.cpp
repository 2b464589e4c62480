// tools/commands/export.cpp — export: one log in the format of another program. schema: what JSON
// of ours looks like.
#include <array>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/json/schemas.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/results.hpp"

namespace vramscope {
namespace {

using report::Error;
using report::Exit;

struct Format {
    const char* name;
    void (*write)(const std::filesystem::path&, const report::Sink&, const report::ExportOptions&);
    bool binary;    // never for a terminal
    bool of_memory; // has stacks and sums: --device, --all-frames
};
constexpr std::array kFormats{
    Format{"jsonl", &report::export_events, false, false},
    Format{"heaptrack", &report::export_heaptrack, false, true},
    Format{"pprof", &report::export_pprof, true, true},
};

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

} // namespace

int export_command(const ExportCommandOptions& options)
{
    const Format& format = format_named(options.format);
    const std::filesystem::path log = the_one_log(options.logs);
    if (!format.of_memory && (options.all_frames || options.device))
        throw Error(Exit::usage, fmt::format("{} has all events and all frames: --device and "
                                             "--all-frames are for other formats",
                                             format.name));
    const bool terminal = options.output == "-" && ::isatty(STDOUT_FILENO);
    if (terminal && format.binary)
        throw Error(
            Exit::usage,
            fmt::format("{} is nothing for a terminal: give it a file, -o FILE", format.name));
    const Output output(options.output, {log}, options.force);
    report::ExportOptions how;
    how.all_frames = options.all_frames;
    how.device = options.device;
    if (!terminal)
        how.progress = progress_bar();
    OutputFile file(output);
    format.write(
        log, [&file](std::string_view piece) { file.write(piece); }, how);
    file.finish();
    return 0;
}

int schema_command(const std::string& name)
{
    for (const report::Schema& schema : report::schemas()) {
        if (schema.name != name)
            continue;
        std::cout << schema.text;
        if (!std::cout.flush())
            throw Error(Exit::usage, "cannot write to stdout");
        return 0;
    }
    std::string known;
    for (const report::Schema& schema : report::schemas())
        known += fmt::format("{}{}", known.empty() ? "" : ", ", schema.name);
    throw Error(Exit::usage, fmt::format("no schema {}: there is {}", name, known));
}

} // namespace vramscope
