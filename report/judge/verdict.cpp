// report/judge/verdict.cpp — a crash, a cut log or a lost event is a doubt.
#include <fmt/format.h>

#include "report/judge/judge.hpp"
#include "report/model/report.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

using format::Lost;
constexpr format::Word<Lost> kWhyLost[] = {
    {Lost::no_space, "the log could not grow: is the disk full?"},
    {Lost::no_thread, "no memory for the state of one more thread"},
    {Lost::signal, "they came from a signal handler that interrupted the recorder"},
    {Lost::table_full, "a table of the recorder was full"},
    {Lost::ended, "they came after the recorder was shut down"},
    {Lost::log_limit, "the log had grown to VRAMSCOPE_MAX_LOG"}};

std::string doubt_of_end(const ProcessEnd& end, bool imported)
{
    if (end.conclusive())
        return {};
    if (imported && end.kind != ProcessEnd::Kind::not_read)
        return end.kind == ProcessEnd::Kind::running
                   ? "the program was still running when the snapshot was taken: what it held then "
                     "it may have freed later"
                   : "the recording does not tell how the program ended: what it held then may be "
                     "no leak";
    if (end.kind == ProcessEnd::Kind::running)
        return "the program is still running: what it holds now it may free later";
    if (end.kind == ProcessEnd::Kind::not_read)
        return "the log was read up to the time of --until: what the program held then it may have "
               "freed later";
    return fmt::format("the program {}: what it held then is listed, but it may not be a leak",
                       describe(end));
}

void add_damage(std::vector<std::string>& reasons, const Process& process)
{
    const Coverage& coverage = process.coverage;
    if (coverage.truncated)
        reasons.push_back("the log is cut: events at its end are missing");
    if (coverage.damaged_chunks > 0)
        reasons.push_back(fmt::format("the log is damaged in {} place{}: events are missing",
                                      coverage.damaged_chunks,
                                      coverage.damaged_chunks == 1 ? "" : "s"));
    if (coverage.undefined_events > 0)
        reasons.push_back(fmt::format("{} events are of entry points that the log does not define",
                                      coverage.undefined_events));
    if (coverage.missed_frees > 0)
        reasons.push_back(
            fmt::format("{} frees were not seen: their addresses were handed out again",
                        coverage.missed_frees));
}

// Perhaps the program crashed in it; or it was ended there as if all were well.
void add_tests(std::vector<std::string>& reasons, const Process& process)
{
    constexpr std::size_t kNamed = 4;
    std::size_t unfinished = 0;
    for (const TestRow& test : process.tests)
        if (!test.ended() && !process.end.went_on() && ++unfinished <= kNamed)
            reasons.push_back(fmt::format("test {} began and did not end", test.name));
    if (unfinished > kNamed)
        reasons.push_back(fmt::format("{} more tests did not end", unfinished - kNamed));
    if (process.test_count > process.tests.size())
        reasons.push_back(fmt::format("of {} tests only the first {} are told of",
                                      process.test_count, process.tests.size()));
}

// "", or from when on.
std::string beginning_of(Lost reason, const Coverage& coverage)
{
    const bool is_of_a_full_log = reason == Lost::no_space || reason == Lost::log_limit;
    return is_of_a_full_log && coverage.log_full_ns
               ? fmt::format(" from {} on", human_time(*coverage.log_full_ns))
               : "";
}

void add_lost(std::vector<std::string>& reasons, const Coverage& coverage)
{
    for (std::size_t at = 0; at < coverage.lost.size(); ++at) {
        const std::uint64_t count = coverage.lost[at];
        const auto reason = static_cast<Lost>(at);
        if (count > 0)
            reasons.push_back(fmt::format(
                "{} event{} not recorded{}: {}", count, count == 1 ? " was" : "s were",
                beginning_of(reason, coverage),
                word_of(kWhyLost, reason, "for a reason that this vramscope does not know")));
    }
}

} // namespace

std::vector<std::string> reasons_for_doubt(const Process& process)
{
    std::vector<std::string> reasons;
    if (std::string doubt = doubt_of_end(process.end, !process.info_value("imported").empty());
        !doubt.empty())
        reasons.push_back(std::move(doubt));
    for (const std::string& free : process.crashed_in)
        reasons.push_back(process.threads > 1
                              ? "one of its threads was inside " + free + ", when it crashed"
                              : "it crashed inside " + free);
    add_tests(reasons, process);
    add_damage(reasons, process);
    add_lost(reasons, process.coverage);
    if (const std::string names = process.info_value("deepbound"); !names.empty())
        reasons.push_back(fmt::format("what {} asked of CUDA was not seen: opened with "
                                      "RTLD_DEEPBIND, it looks past us; trace it with "
                                      "`vramscope run --audit`",
                                      names));
    return reasons;
}

} // namespace vramscope::report
