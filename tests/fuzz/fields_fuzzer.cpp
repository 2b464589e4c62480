// tests/fuzz/fields_fuzzer.cpp — a log that says anything gives a report or an Error, in every form.
//
// What it says is changed field by field (field_changes.hpp); every view, every format and every
// export is then made of it. The corpus is the logs of older builds, of which some have every record.
#include <filesystem>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "report/ci_formats/ci_formats.hpp"
#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/judge/judge.hpp"
#include "report/page/page.hpp"
#include "report/plan/make_plan.hpp"
#include "report/text/views.hpp"
#include "tests/fuzz/field_changes.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/log_builder.hpp"

using namespace vramscope;
using test::Bytes;

namespace {

Bytes unzipped(const std::filesystem::path& path)
{
    Bytes bytes;
    std::uint8_t piece[1 << 16];
    const gzFile file = gzopen(path.c_str(), "rb");
    for (int got = 0; file && (got = gzread(file, piece, sizeof piece)) > 0;)
        bytes.insert(bytes.end(), piece, piece + got);
    if (file)
        gzclose(file);
    return bytes;
}

void require(bool condition, const char* what)
{
    if (!condition)
        throw std::logic_error(what);
}

using Write = std::function<void(std::ostream&)>;

void as_json(const Write& write, const char* what)
{
    std::ostringstream out;
    write(out);
    require(nlohmann::json::accept(out.str()), what);
}

void as_text(const Write& write)
{
    std::ostringstream out;
    write(out);
    require(out.str().find('\x1b') == std::string::npos, "an escape character reached the output");
}

void show(const report::Report& made)
{
    using namespace report;
    for (const auto view : {write_report, write_leaks, write_fragmentation, write_peak,
                            write_timeline, write_churn, write_snapshot, write_summary})
        as_text([&](std::ostream& out) { view(out, made, {}); });
    as_json([&](std::ostream& out) { write_json(out, made); }, "the report is no JSON");
    if (why_no_pages().empty())
        require(page_of(made, "report").size() <= kMostPageBytes, "the page is too large");
}

void judge(const report::Report& made)
{
    using namespace report;
    const Check check = report::check(made, Budget{});
    const SourcePaths paths("/");
    const std::vector<Problem> problems = find_problems(check, made, paths);
    const CheckedRun run{check, made, paths, problems, "0"};
    as_text([&](std::ostream& out) { write_check(out, check, made); });
    as_json([&](std::ostream& out) { write_check_json(out, check, made); }, "the check is no JSON");
    as_json([&](std::ostream& out) { write_sarif(out, run); }, "SARIF is no JSON");
    as_json([&](std::ostream& out) { write_gitlab(out, run); }, "GitLab's file is no JSON");
    for (const auto write : {write_junit, write_github_annotations, write_github_summary})
        as_text([&](std::ostream& out) { write(out, run); });
    const Comparison comparison = compare(made, made, 0.1);
    as_text([&](std::ostream& out) { write_comparison(out, comparison, made); });
    as_json([&](std::ostream& out) { write_comparison_json(out, comparison, made, made); },
            "the comparison is no JSON");
}

void plan(const std::filesystem::path& log)
{
    using namespace report;
    plan::PlanOptions options;
    options.cards = {std::uint64_t{1} << 30};
    const Plan made = plan::make_plan({log}, options);
    as_text([&](std::ostream& out) { write_plan(out, made); });
    as_json([&](std::ostream& out) { write_plan_json(out, made); }, "the plan is no JSON");
}

/// Each is wanted whatever becomes of the others.
void export_all(const std::filesystem::path& log, bool all_frames)
{
    using namespace report;
    for (const auto write :
         {export_events, export_heaptrack, export_pprof, export_folded, export_speedscope,
          export_trace, export_sanitizer, export_torch_snapshot, export_timeline, export_metrics}) {
        try {
            std::size_t bytes = 0;
            ExportOptions how;
            how.all_frames = all_frames;
            write(
                log, [&](std::string_view piece) { bytes += piece.size(); }, how);
            require(bytes < (std::size_t{1} << 30), "an export of a small log is huge");
        } catch (const Error&) {
            // A log that this format cannot have.
        }
    }
}

std::string events_of(const Bytes& log)
{
    const test::TempFile file(log);
    std::string events;
    report::export_events(file.path(), [&](std::string_view piece) { events += piece; });
    return events;
}

/// Else what is changed is not what was meant. Of a damaged chunk what can be read is kept.
void require_that_it_can_be_rewritten(const std::filesystem::path& path, const Bytes& log)
{
    Bytes again = log;
    test::rewrite(again);
    require(path.stem().stem() == "damaged" || events_of(again) == events_of(log),
            "a log that is taken apart does not say what it said");
}

} // namespace

const FuzzTarget fuzz_target = {"fields_fuzzer", 0, test::change_fields};

std::vector<Bytes> fuzz_corpus()
{
    std::vector<Bytes> corpus;
    const std::filesystem::path folder = VRAMSCOPE_SOURCE_DIR "/tests/golden/old_logs";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().native().ends_with(".vsl.gz")) {
            corpus.push_back(unzipped(entry.path()));
            require_that_it_can_be_rewritten(entry.path(), corpus.back());
        }
    require(!corpus.empty(), "there are no old logs");
    return corpus;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const test::TempFile file(Bytes(data, data + size));
    const bool all_frames = size % 2 == 0;
    try {
        report::Options options;
        options.all_frames = all_frames;
        options.for_page = true;
        const report::Report made = report::make_report({file.path()}, options);
        show(made);
        judge(made);
    } catch (const report::Error&) {
        // The file is not a log: this is the answer that is wanted.
    }
    // What a plan weighs takes longer than all else.
    const bool planned = crc32(0, data, static_cast<unsigned>(size)) % 4 == 0;
    try {
        if (planned)
            plan(file.path());
    } catch (const report::Error&) {
        // The same.
    }
    export_all(file.path(), all_frames);
    return 0;
}
