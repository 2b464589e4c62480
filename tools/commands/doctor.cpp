// tools/commands/doctor.cpp — what works here, and why nothing would be seen, or was not.
//
// Ends 0 when a program could be traced, 110 when nothing could be observed.
#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/error.hpp"
#include "report/text/sections.hpp"
#include "report/words/file_words.hpp"
#include "report/words/words.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/run_options.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/results.hpp"
#include "tools/process/bindings.hpp"
#include "tools/process/diagnosis.hpp"
#include "tools/process/driver_probe.hpp"
#include "tools/process/installation.hpp"
#include "tools/process/live/run_file.hpp"
#include "tools/process/log_stamp.hpp"
#include "tools/process/traced_process.hpp"

namespace vramscope {
namespace {

constexpr const char* kDoctorFooter =
    R"(Ends 0 when a program could be traced, 110 when nothing could be observed.

Examples:
  vramscope doctor                             the installation and the driver
  vramscope doctor ./train                     and this program
  vramscope doctor --simulate 24GiB ./train    would it run on the simulated GPU?
  vramscope doctor vramscope.train.4711.vsl    what did this log see, and what did it lose? Was its Python found, did PyTorch tell of its blocks, and how often?
)";

struct DoctorOptions {
    std::string target; // a program, or a log; empty: only the installation and the driver
    std::string simulate;
};

// Prints findings as they are made, and remembers whether one of them is in the way.
class Findings {
public:
    void good(const std::string& what) { line("ok", what); }
    void note(const std::string& what) { line("note", what); }
    void bad(const std::string& what)
    {
        line("NO", what);
        all_well_ = false;
    }
    bool all_well() const { return all_well_; }

private:
    static void line(const char* word, const std::string& what)
    {
        fmt::print("{:<5} {}\n", word, report::terminal_safe(what));
    }

    bool all_well_ = true;
};

bool on_noexec_mount(const std::filesystem::path& file)
{
    struct statvfs status;
    return ::statvfs(file.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC);
}

// Starts this very program with the library preloaded and looks whether the
// library announced itself.
bool preload_works(const Installation& installation)
{
    const RunFile run_file;
    const std::vector<std::string> command{installation.executable.string(), "--version"};
    TracedProcess child(command, [&]() -> std::string {
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
        ::setenv("LD_PRELOAD", installation.preload.c_str(), 1);
        ::setenv("VRAMSCOPE_RUN", run_file.variable().c_str(), 1);
        return {};
    });
    const bool works = child.exec_error() == 0 && exit_status_of(child.wait()) == 0;
    child.let_signals_through();
    return works && !run_file.read().empty();
}

void look_at_simulated_gpu(const Installation& installation, Findings& findings)
{
    const auto [there, missing] = simulated_runtimes(installation);
    findings.good(fmt::format("simulated GPU: {}, with runtimes of CUDA {}",
                              installation.simgpu.string(), fmt::join(there, ", ")));
    if (!missing.empty())
        findings.note(fmt::format("programs that were built with the shared runtime of CUDA {} do "
                                  "not start on the simulated GPU: this vramscope was built "
                                  "without that runtime",
                                  fmt::join(missing, " or ")));
}

void look_at_installation(const Installation& installation, Findings& findings)
{
    if (installation.preload.empty()) {
        findings.bad("libvramscope.so is not beside the executable nor in its lib folder");
        return;
    }
    const std::string preload = installation.preload.string();
    if (installation.preload.string().find_first_of(" :") != std::string::npos)
        findings.bad(
            fmt::format("{}: LD_PRELOAD cannot express a path with a space or a colon", preload));
    else if (on_noexec_mount(installation.preload))
        findings.bad(fmt::format("{} lies on a file system that is mounted noexec", preload));
    else if (!preload_works(installation))
        findings.bad(fmt::format("{} was not loaded into a test program by LD_PRELOAD", preload));
    else
        findings.good(fmt::format("preload works: {}", preload));
    if (installation.audit.empty())
        findings.note("libvramscope-audit.so not found: `run --audit` is not available, and "
                      "libraries opened with RTLD_DEEPBIND would not be seen");
    if (installation.simgpu.empty())
        findings.note("the simulated GPU is not installed: --simulate is not available");
    else
        look_at_simulated_gpu(installation, findings);
    if (!installation.python.empty())
        findings.good(fmt::format("Python module: {}, which `run` puts on PYTHONPATH",
                                  installation.python.string()));
}

void describe_driver(const DriverFacts& driver, Findings& findings)
{
    const int newest = newest_known_cuda_version();
    const auto version_text = [](int version) {
        return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    };
    findings.good(fmt::format("{} {}, CUDA {}{}", driver.simulated ? "simulated driver" : "driver",
                              driver.path, version_text(driver.cuda_version),
                              driver.kernel_module.empty() || driver.simulated
                                  ? ""
                                  : ", kernel module " + driver.kernel_module));
    if (driver.cuda_version > newest)
        findings.note(fmt::format("version unknown: this vramscope knows the entry points up to "
                                  "CUDA {}; newer ones are not seen, and reports name "
                                  "those that a program looks up",
                                  version_text(newest)));
    for (const std::string& device : driver.devices)
        findings.good("device: " + device);
    if (driver.devices.empty())
        findings.bad("the driver shows no device");
}

void look_at_driver(const DoctorOptions& options, const Installation& installation,
                    Findings& findings)
{
    const bool simulated = !options.simulate.empty();
    const DriverFacts driver =
        probe_driver(simulated ? installation.simgpu / "libcuda.so.1" : "libcuda.so.1", Ask::all,
                     options.simulate);
    if (driver.path.empty()) {
        findings.bad(fmt::format("no CUDA driver: {}", driver.problem));
        if (!driver.kernel_module.empty())
            findings.note(fmt::format(
                "yet the kernel module {} is loaded: is the driver's user part installed, and in "
                "this container too?",
                driver.kernel_module));
    } else if (!driver.problem.empty()) {
        findings.bad(fmt::format("the driver {} does not work: {}", driver.path, driver.problem));
    } else {
        describe_driver(driver, findings);
    }
    const bool works = !driver.path.empty() && driver.problem.empty();
    if (!works && !simulated && !installation.simgpu.empty())
        findings.note("without a GPU: `vramscope run --simulate 24GiB`, and `vramscope doctor "
                      "--simulate 24GiB`");
}

void look_at_program(const DoctorOptions& options, const Installation& installation,
                     Findings& findings)
{
    const ProgramFile program = inspect_program(options.target);
    const std::vector<std::string> lines = obstacles(program);
    for (const std::string& line : lines)
        findings.bad(line);
    if (!lines.empty())
        return;
    findings.good(fmt::format("{} can be traced", program.path.string()));
    if (!program.interpreter.empty())
        findings.note(fmt::format("it is a script, run by {}", program.interpreter));
    else if (has_own_runtime(program))
        findings.note("it carries NVIDIA's CUDA runtime inside, as nvcc does by default");
    else if (program.needs("libcudart.so") || program.needs("libcuda.so"))
        findings.note("it is linked with the CUDA runtime or driver");
    else
        findings.note("it is not linked with CUDA itself; libraries that it opens may be");
    if (has_own_pytorch(program))
        findings.note(pytorch_inside(program.path.string()));
    if (!options.simulate.empty())
        for (const std::string& line : gpu_obstacles(program, options.simulate, installation, {}))
            findings.bad(line);
}

void look_at_log(const std::string& path, Findings& findings)
{
    const report::Report report = read_logs({path});
    for (const report::Process& process : report.processes) {
        findings.note(
            fmt::format("{} (process {}) {}", process.program, process.pid, describe(process.end)));
        const report::Coverage& seen = process.coverage;
        const std::string counts =
            fmt::format("{} events: {} allocations, {} frees, {} failed calls", seen.events,
                        seen.allocations, seen.frees, seen.failed_calls);
        seen.events > 0 ? findings.good(counts)
                        : findings.bad("no event: the program made no CUDA call that owns memory");
        for (const Binding& binding : bindings_of(process))
            binding.bound ? findings.good(binding.line) : findings.note(binding.line);
        if (const std::string pool = report::pool_line(process.pool); !pool.empty())
            findings.note("pool: " + pool);
        for (std::size_t i = 0; i < seen.lost.size(); ++i)
            if (seen.lost[i] > 0)
                findings.note(fmt::format("{} events lost: {}", seen.lost[i],
                                          name(static_cast<format::Lost>(i))));
    }
    for (const auto* lines : {&report.reasons, &report.notices})
        for (const std::string& line : *lines)
            findings.note(line);
    for (const std::string& sentence : report::sentences_about(report.unread_files))
        findings.note(sentence);
}

int diagnose(const DoctorOptions& options)
{
    if (!options.simulate.empty())
        check_simulated_devices(options.simulate);
    Findings findings;
    if (is_log(options.target)) {
        look_at_log(options.target, findings);
    } else {
        const Installation installation = find_installation();
        look_at_installation(installation, findings);
        look_at_driver(options, installation, findings);
        if (!options.target.empty())
            look_at_program(options, installation, findings);
        fmt::print("{}\n", findings.all_well()
                               ? "Ready."
                               : "Nothing would be seen, for the reasons marked NO.");
    }
    return static_cast<int>(findings.all_well() ? report::Exit::ok
                                                : report::Exit::nothing_observed);
}

} // namespace

void add_doctor(CommandLine& line)
{
    const auto options = std::make_shared<DoctorOptions>();
    CLI::App& command = line.add("doctor", "say what works here, and why nothing would be seen",
                                 kDoctorFooter, diagnose, options);
    command.add_option("TARGET", options->target, "a program, or a log");
    command
        .add_option("--simulate", options->simulate,
                    "look at the simulated GPU instead of the driver")
        ->option_text("SPEC");
}

} // namespace vramscope
