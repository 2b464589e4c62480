// tools/commands/memcheck.cpp — takes compute-sanitizer's place in CTest's memory check, for leaks.
//
// CTest gives its program by path, and counts lines of its text: the program is a script that calls
// this command. It is `run` with logs in a folder of its own, and then `export --to sanitizer`.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/run_options.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/input_files.hpp"
#include "tools/output/output_file.hpp"
#include "tools/process/program_file.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMemcheckFooter =
    R"(Runs PROGRAM under vramscope and writes each block that it leaked, wrong frees, and what --set poison or guard
finds, in the words of compute-sanitizer's memcheck.
vramscope-memcheck is this command for CTest, which counts them as defects:

    cmake -B build -DMEMORYCHECK_TYPE=CudaSanitizer -DMEMORYCHECK_COMMAND=/usr/bin/vramscope-memcheck
    cd build && ctest -T MemCheck

A log that lacks events is a defect too, and so is a program that fails before it calls CUDA, as one that cannot be
started does. What memcheck wrote into the file of --log-file before is replaced; any other file needs -f.

Ends as PROGRAM did; 120 if its log cannot be read, 125 for wrong usage, or if FILE cannot be written or is kept.

Examples:
  vramscope memcheck ./unit_tests
  vramscope memcheck --simulate 24GiB --log-file leaks.txt --error-exitcode 1 ./unit_tests
)";

// What compute-sanitizer takes and is true of every run here. --tool and --leak-check say it too.
constexpr const char* kAlwaysSo[] = {"--leak-check", "--check-exit-code", "--print-limit",
                                     "--require-cuda-init", "--target-processes"};

struct MemcheckOptions {
    std::string log_file; // empty: stdout
    bool force = false;   // overwrite what it names
    std::string tool = "memcheck";
    std::string always_so; // the last value of those; they change nothing
    int error_exit = 0;
    std::string simulate;
    std::string pool;
    std::vector<std::string> settings;
    std::vector<std::string> command;
};

// A folder for logs that nobody but this command is to see.
class ScratchFolder {
public:
    ScratchFolder()
    {
        const char* const parent = std::getenv("TMPDIR");
        std::string name =
            std::string(parent && *parent ? parent : "/tmp") + "/vramscope-memcheck.XXXXXX";
        if (::mkdtemp(name.data()) == nullptr)
            throw report::Error(report::Exit::usage, fmt::format("cannot make the folder {}: {}",
                                                                 name, std::strerror(errno)));
        path_ = fs::absolute(name);
    }
    ~ScratchFolder()
    {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

int run_into(const fs::path& folder, const MemcheckOptions& options)
{
    ::setenv("VRAMSCOPE_LOG", (folder / "%p.vsl").c_str(), 1);
    RunOptions run;
    run.logs_stay = false;
    run.simulate = options.simulate;
    run.pool = options.pool;
    run.settings = options.settings;
    run.command = options.command;
    return run_program(run);
}

void write_without_a_log(OutputFile& file, int status, const std::string& program)
{
    file.write(fmt::format("========= COMPUTE-SANITIZER\n========= {}\n", report::kOwnMark));
    if (status != 0)
        file.write(fmt::format("========= Error: {} ended with {} before it called CUDA\n",
                               report::terminal_safe(program), status));
    file.write(fmt::format("========= ERROR SUMMARY: {}\n", status == 0 ? "0 errors" : "1 error"));
}

// Whether anything leaked or was wrong, or a log lacks events.
bool write_logs(OutputFile& file, const fs::path& folder)
{
    bool found = false;
    for (const fs::path& log : find_logs({folder.string()}))
        report::export_sanitizer(log, [&](std::string_view piece) {
            found = found || piece.starts_with("========= Leaked ") ||
                    piece.starts_with("========= Error: ") ||
                    piece.find("\n========= Incomplete") != piece.npos;
            file.write(piece);
        });
    return found;
}

int memcheck(const MemcheckOptions& options)
{
    if (options.command.empty())
        throw CLI::RequiredError("PROGRAM");
    if (options.tool != "memcheck")
        throw report::Error(report::Exit::usage,
                            fmt::format("--tool {}: it knows memcheck alone", options.tool));
    const fs::path program = inspect_program(options.command.front()).path;
    const Output output(options.log_file.empty() ? "-" : options.log_file, inputs({program}, {}),
                        options.force);
    const ScratchFolder folder;
    const int status = run_into(folder.path(), options);
    OutputFile file(output);
    bool found = false;
    if (fs::is_empty(folder.path())) // a process that never called CUDA has no log
        write_without_a_log(file, status, options.command.front());
    else
        found = write_logs(file, folder.path());
    file.finish();
    return status == 0 && found ? options.error_exit : status;
}

} // namespace

void add_memcheck(CommandLine& line)
{
    const auto options = std::make_shared<MemcheckOptions>();
    CLI::App& command =
        line.add("memcheck", "a program's leaks as compute-sanitizer prints them, for CTest",
                 kMemcheckFooter, memcheck, options);
    line.take_rest_by([options, &command](std::vector<std::string>& arguments) {
        options->command = take_program(command, arguments);
    });
    command.add_option("PROGRAM", options->command,
                       "the program to check, and its arguments (after -- if it starts with -)");
    command.add_option("--log-file", options->log_file, "where the leaks go; else stdout")
        ->option_text("FILE");
    command.add_flag("-f,--force", options->force, kForceHelp);
    command
        .add_option("--error-exitcode", options->error_exit,
                    "end with this if anything leaked or was wrong, or the log lacks events, and "
                    "PROGRAM ended with 0")
        ->check(CLI::Range(0, 255))
        ->option_text("N");
    command.add_option("--tool", options->tool, "memcheck: there is no other")->option_text("TOOL");
    for (const char* const name : kAlwaysSo)
        command
            .add_option(name, options->always_so,
                        "accepted: all leaks of all processes are looked for, and printed")
            ->option_text("VALUE");
    command.add_option("--simulate", options->simulate, "as `run` has it, and the next two")
        ->option_text("SPEC");
    offer(command.add_option("--pool", options->pool, "what becomes of freed memory")
              ->option_text("MODE"),
          {"cache", "split", "off"});
    command.add_option("--set", options->settings, "a setting; may be repeated")
        ->allow_extra_args(false)
        ->option_text("NAME=VALUE");
}

} // namespace vramscope
