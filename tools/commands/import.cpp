// tools/commands/import.cpp — what another tool recorded, as a log of ours.
#include "report/import/import.hpp"

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/output_file.hpp"
#include "tools/process/log_stamp.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImportFooter =
    R"(FILE is a memory snapshot of PyTorch, as torch.cuda.memory._dump_snapshot() writes it: a pickle of protocol 2 to 5,
of PyTorch 2.0 and later, also of a program that was out of memory. It is read as data, and nothing in it is run. What
it is, is told by its content, as is a log of RMM's logging resource (Thread,Time,Action,Pointer,Size,Stream). Every command takes the log then; what FILE does not tell is said there as not known.

Ends 0; 120 if FILE is no such recording; 125 for wrong usage, or if the log cannot be written.

Examples:
  vramscope import snapshot.pickle             writes snapshot.vsl
  vramscope import rmm_log.csv && vramscope peak rmm_log.vsl
  vramscope import snapshot.pickle -o step.vsl && vramscope peak step.vsl
)";

struct ImportOptions {
    std::string recording;
    std::string output; // empty: beside the recording, with the ending of a log
    bool force = false;
};

int import_file(const ImportOptions& options)
{
    refuse_irregular(options.recording); // a FIFO is read by nobody when it is to be the log too
    if (is_log(options.recording))
        throw report::Error(
            report::Exit::bad_input,
            fmt::format("{} is a log of vramscope's already, which every command reads as it is",
                        options.recording));
    fs::path place = options.output;
    if (options.output.empty())
        place = fs::path(options.recording).replace_extension(".vsl");
    const Output output(place, {options.recording}, options.force, Output::Keep::every_file);
    OutputFile file(output, 0600); // as private as a log
    const report::Imported imported =
        report::import_recording(options.recording, file.descriptor());
    file.finish();
    fmt::print("{}: {}, {} events, {} blocks from before it\n",
               report::terminal_safe(place.string()), imported.what, imported.events,
               imported.older_blocks);
    for (const std::string& sentence : imported.unknown)
        fmt::print("Note: {}\n", sentence);
    fmt::print("\nNext: vramscope report {}\n",
               report::terminal_safe(report::shell_quoted(place.string())));
    return 0;
}

} // namespace

void add_import(CommandLine& line)
{
    const auto options = std::make_shared<ImportOptions>();
    CLI::App& command =
        line.add("import", "a memory snapshot of PyTorch or a log of RMM, as a log of ours",
                 kImportFooter, import_file, options);
    command.add_option("FILE", options->recording, "what another tool recorded")->required();
    command.add_option("-o,--output", options->output, "the log; else FILE with the ending .vsl")
        ->option_text("LOG");
    command.add_flag("-f,--force", options->force, "overwrite a file that is there");
}

} // namespace vramscope
