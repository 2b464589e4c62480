// tools/commands/job.cpp — many ranks of one job: what is wrong with which.
#include "report/job/job.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "report/error.hpp"
#include "report/json/json.hpp"
#include "report/page/page.hpp"
#include "report/text/views.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/job_files.hpp"
#include "tools/commands/kept_names.hpp"
#include "tools/options/output_options.hpp"
#include "tools/options/source_options.hpp"
#include "tools/options/suppression_options.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/results.hpp"
#include "tools/process/dask_driver.hpp"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJobFooter =
    R"(Reads what `vramscope reduce` or `run --reduced DIR` wrote; logs that have no such table are reduced first. It says
which ranks are missing, cut, crashed or failed; which ran out of memory, freed wrongly or have a stray context; what a
rank has that the others lack; which values are far from what is usual; what leaks or grows on some ranks, or on all;
where the least memory was left; and which call places only some ranks have, as the stages of a pipeline do. Whether a
value is far off is said of five ranks or more.

A folder stands for all reduced tables in it, and for the logs there whose process none of them is of. What else ends in
.jsonl there is left out, and said.

With --dask the files are reduced and joined by the workers of a Dask cluster, which see them under these names and need
`vramscope` in their PATH; a folder is what each worker has there.

Ends 0; 111 if a file could not be read: the others are joined; 120 if none can be; 125 for wrong usage.

Examples:
  vramscope job tables                                   of `srun vramscope run --reduced tables ./train`
  vramscope job logs/*.vsl                               the same from logs, which takes longer
  vramscope job --dask tcp://head:8786 /scratch/logs     logs that lie on many nodes
  vramscope job -o job.html tables                       a map of the ranks, to look at in a browser
  vramscope job --all --json job.json tables
)";

struct JobOptions {
    std::vector<std::string> files;
    std::string dask; // the address of a scheduler; empty: files are read here
    OutputOptions output;
    bool all = false;
    SuppressionOptions suppressions;
    SymbolOptions symbols;
    bool no_cache = false;
    SourceOptions sources;
};

// True if all could be read.
bool read_here(const std::vector<fs::path>& files, const report::Options& reading,
               report::JobJoin& join)
{
    std::size_t unread = 0;
    for (const fs::path& file : files) {
        try {
            read_job_file(file, reading, [&](std::istream& table, const report::Report*) {
                report::read_reduced(table, file.string(),
                                     [&](const report::ReducedProcess& process) {
                                         join.add(process, file.string());
                                     });
            });
        } catch (const report::Error& error) {
            if (++unread == files.size())
                throw; // none could be read
            join.add_unread(error.what());
        }
    }
    return unread == 0;
}

bool read_by_dask(const JobOptions& options, report::JobJoin& join)
{
    std::vector<std::string> unread;
    bool any = false;
    join_by_dask(
        options.dask, options.files, [&](std::string why) { unread.push_back(std::move(why)); },
        [&](std::istream& table) {
            any = true;
            report::read_reduced(
                table, "what the workers wrote",
                [&join](const report::ReducedProcess& process) { join.add(process); });
        });
    if (!any)
        throw report::Error(report::Exit::bad_input,
                            unread.empty() ? "no worker has a log there" : unread.front());
    for (std::string& why : unread)
        join.add_unread(std::move(why));
    return unread.empty();
}

int join_job(const JobOptions& options)
{
    const bool here = options.dask.empty();
    const std::vector<fs::path> files =
        here ? find_job_files(options.files)
             : std::vector<fs::path>(options.files.begin(), options.files.end());
    if (here)
        refuse_rules_for_tables(files, options.suppressions);
    const std::vector<fs::path> taken = inputs(files, options.suppressions);
    const Output json(options.output.json, taken, options.output.force);
    const Output html = page_output(options.output, taken);
    report::Options reading;
    reading.suppressions = read_suppressions(options.suppressions);
    reading.symbols = read_symbol_options(options.symbols);
    reading.symbols.names = names_kept(options.no_cache);
    const report::PageSources sources = read_source_options(options.sources, reading.symbols);
    reading.all_sites = true;
    report::Symbolizer symbolizer(reading.symbols);
    reading.symbolizer = &symbolizer;
    report::JobJoin join;
    const bool all = here ? read_here(files, reading, join) : read_by_dask(options, join);
    const report::Job job = join.finish();
    if (html.wanted())
        write_page(html, report::page_of(job, sources), options.output);
    write_found(
        json, options.output,
        [&](std::ostream& out, const report::JsonStyle& style) {
            report::write_job_json(out, job, style);
        },
        [&](std::ostream& out) {
            report::write_job(out, job, style_for(STDOUT_FILENO), options.all);
        });
    return static_cast<int>(all ? report::Exit::ok : report::Exit::incomplete);
}

} // namespace

void add_job(CommandLine& line)
{
    const auto options = std::make_shared<JobOptions>();
    CLI::App& command = line.add("job", "all ranks of a job: which is different, and in what",
                                 kJobFooter, join_job, options);
    command.add_option("FILE", options->files, "reduced tables, logs, or folders of them")
        ->required();
    command.add_flag("--all", options->all, "every finding, and a table of the ranks");
    CLI::Option* const dask =
        command
            .add_option("--dask", options->dask,
                        "files are reduced and joined by the cluster with this scheduler")
            ->option_text("ADDRESS");
    add_output_options(command, options->output, "the job");
    add_source_options(command, options->sources);
    const std::size_t before = command.get_options().size();
    add_suppression_options(command, options->suppressions);
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
    add_cache_option(command, options->no_cache);
    const std::vector<CLI::Option*> all =
        command.get_options(); // of the workers nobody tells these
    std::for_each(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(),
                  [dask](CLI::Option* option) { dask->excludes(option); });
}

} // namespace vramscope
