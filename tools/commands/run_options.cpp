// tools/commands/run_options.cpp — the options of `vramscope run`, and its examples.
#include "tools/commands/run_options.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "report/error.hpp"
#include "tools/commands/kept_names.hpp"
#include "tools/options/settings.hpp"
#include "tools/options/usage.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope {

const char* const kRunFooter =
    R"(Everything after PROGRAM belongs to the program. `run` ends as the program ended: its exit status, 128+n if signal
n killed it, 127 if there is no such program, 126 if it cannot be executed; 125 for wrong usage or a fault of ours,
also if the program ended 0 and a file that was asked for could not be written after all.
With --check and a program that ends 0, it ends as `vramscope check` would: 0, 100, 110 or 111.

Examples:
  vramscope run ./train --epochs 2
  vramscope run -o logs/train.%p.vsl -- ./train
  vramscope run --simulate 2x80GiB ./train     two simulated GPUs of 80 GiB; needs no driver
  vramscope run --json leaks.json ./train      and a report for machines
  vramscope run --html train.html ./train      and a page to look at in a browser
  vramscope run --check --max-peak 8GiB ./train
  vramscope run --check --sarif leaks.sarif --github ./train
  vramscope run python3 train.py               which can `import vramscope`: ranges, marks, the pool's numbers
  vramscope run --inside python3 train.py      and its arrays of JAX, TensorFlow, cuDF or CuPy are told one by one
  vramscope run --reach ./train                and what holds each block that leaked: a variable, a list, nothing
  vramscope run --metrics server.prom --on growth ./tell-us ./server    numbers for Prometheus while it runs
  vramscope run --bounded 64MiB ./server       for weeks: its log stays small, as with `vramscope collect`
  vramscope run --pool cache ./train           keep freed memory, and hand it out again
  vramscope run --pool split --set guard=on --set limit=8GiB ./train
)";

namespace {

[[noreturn]] void refuse_bound(const std::string& line)
{
    throw report::Error(report::Exit::usage, line);
}

// As the traced process will find it.
std::string max_log_of(const RunOptions& options)
{
    constexpr const char* kMaxLog = "VRAMSCOPE_MAX_LOG";
    const char* const set = std::getenv(kMaxLog);
    std::string value = set ? set : "";
    for (const auto& [variable, chosen] : chosen_settings(options.settings, options.pool))
        if (variable == kMaxLog)
            value = chosen;
    return value == "off" ? "" : value;
}

} // namespace

std::optional<std::uint64_t> read_bound(const RunOptions& options, const report::Rules& rules)
{
    constexpr std::uint64_t kLeast = 4 << 20;
    if (options.bounded.empty())
        return std::nullopt;
    const std::optional<std::uint64_t> bytes = format::read_size(options.bounded);
    if (!bytes || *bytes < kLeast)
        refuse_bound(fmt::format("--bounded '{}': write a size from 4MiB on: 64MiB, 1GiB",
                                 options.bounded.substr(0, 80)));
    if (const std::string most = max_log_of(options); !most.empty())
        refuse_bound(
            fmt::format("--bounded keeps a log small, and max_log={} ends it, by its length "
                        "with all that was given back: give one of both",
                        most));
    // What a collected log cannot tell.
    for (const report::Rule& rule : rules.rules)
        if (!report::is_told_by_sums(rule))
            refuse_bound(
                fmt::format("--bounded keeps sums in the place of older events, and the rule "
                            "'{}' needs each of them: give one of both",
                            rule.name));
    return bytes;
}

void add_run_options(CLI::App& command, RunOptions& options)
{
    command.add_option("PROGRAM", options.command,
                       // Only for the help text: take_program reads it.
                       "the program to trace, and its arguments (after -- if it starts with -)");
    command
        .add_option("--simulate", options.simulate, "simulate GPUs of this size: 24GiB, 2x80GiB")
        ->option_text("SPEC");
    command
        .add_option("-o,--output", options.log,
                    "where the log goes; %e program, %p process id, %h host, %t seconds, %r "
                    "rank, %q{NAME} a variable")
        ->option_text("LOG");
    add_json_options(command, options.output, "the report",
                     "overwrite the log that -o names, and any file of --json and --html");
    add_pool_blocks_option(command, options.output);
    add_html_options(command, options.output);
    command
        .add_option("--reduced", options.reduced,
                    "and a small table of each log in this folder, for `vramscope job`")
        ->option_text("DIR");
    add_source_options(command, options.sources);
    offer(
        command
            .add_option("--pool", options.pool, "what becomes of freed memory: cache, split or off")
            ->option_text("MODE"),
        {"cache", "split", "off"});
    offer(command
              .add_option("--set", options.settings, "a setting of the list below; may be repeated")
              ->allow_extra_args(false)
              ->option_text("NAME=VALUE"),
          settings_to_choose());
    add_suppression_options(command, options.suppressions);
    add_symbol_options(command, options.symbols);
    add_fold_option(command, options.symbols);
    add_cache_option(command, options.no_cache);
    CLI::Option* const check = command.add_flag(
        "--check", options.check, "then hold the run against a budget, and end as `check` does");
    add_budget_options(command, options.budget, check);
    add_ci_format_options(command, options.ci_formats, check);
    command.add_flag("--audit", options.audit,
                     "follow libraries opened with RTLD_DEEPBIND too, by LD_AUDIT: some "
                     "programs do not start with it");
    command.add_flag("--inside", options.inside,
                     "switch off the allocators of JAX, TensorFlow, cuDF and CuPy, so that each of "
                     "their buffers is seen");
    command
        .add_option("--bounded", options.bounded,
                    "collect its logs while it runs, so that each takes about so much of the disk "
                    "at most")
        ->option_text("SIZE");
    command.add_flag("--reach", options.reach,
                     "search its memory when its work is done, before it takes its variables down: "
                     "what holds each block that is left, and which are lost");
    add_watch_options(command, options.watch);
    // An option from before 0.5.0; it is the default now.
    command.add_flag("!--no-audit", options.audit)->group("");
}

} // namespace vramscope
