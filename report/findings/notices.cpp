// report/findings/notices.cpp — what a reader should know beside the rows, in sentences.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/growth/chosen_steps.hpp"

namespace vramscope::report {

namespace {

// Calls `look` with each place whose line a reader looks for first, until it returns false.
template <class Look>
bool all_places(const Report& report, Look look)
{
    for (const Leak& leak : report.leaks)
        if (!look(leak))
            return false;
    for (const Process& process : report.processes)
        for (const MemoryReport& memory : process.memory)
            for (const PeakStack& stack : memory.peak.stacks)
                if (!look(stack))
                    return false;
    return true;
}

bool was_read(const Report& report, const std::string& module)
{
    return module.starts_with('/') &&
           std::none_of(report.unread_files.begin(), report.unread_files.end(),
                        [&](const UnreadFile& file) { return file.path == module; });
}

} // namespace

std::string no_lines_notice(const Report& report)
{
    std::string module;
    const bool no_line = all_places(report, [&](const CallPlace& place) {
        const Frame* const own = place.own_frame();
        if (module.empty() && own && was_read(report, own->module))
            module = own->module;
        return std::none_of(place.stack.begin(), place.stack.end(),
                            [](const Frame& frame) { return frame.line > 0; });
    });
    if (!no_line || module.empty())
        return {};
    return fmt::format("no line is known of {}, as it was compiled without -g: compile with it "
                       "(nvcc's -lineinfo alone is about kernels), and rows name their lines",
                       module);
}

std::vector<std::string> notices_about(const Process& process, const HeapReplay& replay,
                                       const LogReader& reader)
{
    std::vector<std::string> notices;
    const Totals& totals = process.totals;
    if (process.search && !process.search->doubts.empty())
        notices.push_back("what holds the blocks: " + process.search->doubts);
    if (process.coverage.unmatched_frees > 0)
        notices.push_back(
            fmt::format("{} freed a pointer that was not seen allocated",
                        process.coverage.unmatched_frees == 1
                            ? "1 call"
                            : fmt::format("{} calls", process.coverage.unmatched_frees)));
    if (totals.address_reservations > 0)
        notices.push_back(fmt::format(
            "{} address reservation{} never given back: {} bytes of addresses, no memory",
            totals.address_reservations, totals.address_reservations == 1 ? " was" : "s were",
            totals.reserved_address_bytes));
    if (const std::uint64_t unknown = reader.empty_chunks().unknown; unknown > 0)
        notices.push_back(
            fmt::format("{} of this log {} empty: logs of its version do not say whether something "
                        "was lost there",
                        unknown == 1 ? "1 chunk" : fmt::format("{} chunks", unknown),
                        unknown == 1 ? "is" : "are"));
    for (const auto& [key, sentence] : process.info)
        if (key == "imported.unknown")
            notices.push_back(sentence);
    if (const std::string why = process.info_value("python.off"); !why.empty())
        notices.push_back(fmt::format("functions of Python {} are missing from the stacks: {}",
                                      process.info_value("python"), why));
    if (const std::string why = process.info_value("backward.off"); !why.empty())
        notices.push_back(fmt::format(
            "stacks of backward passes do not say which line's backward it is: {}", why));
    if (const std::string why = process.info_value("active.off"); !why.empty())
        notices.push_back(fmt::format("PyTorch's active bytes are not known: {}", why));
    for (const FrameworkUse& use : process.frameworks)
        if (std::string notice = notice_about(use); !notice.empty())
            notices.push_back(std::move(notice));
    for (const BlockInFlight& block : replay.in_flight())
        notices.push_back(fmt::format(
            "a free of {:#x} ({} bytes) was in flight when the process ended: nobody knows whether "
            "it is free, and it is not in the list",
            block.free.address, block.block.bytes));
    if (!process.coverage.unknown_entry_points.empty())
        notices.push_back(
            newer_functions_notice(process.coverage.unknown_entry_points,
                                   !process.info_value("unknown_entry_points.more").empty()));
    return notices;
}

std::string unknown_step(const std::string& wanted, const Steps& steps)
{
    constexpr std::size_t kNamed = 8;
    std::string names;
    const std::size_t named = std::min(steps.all().size(), kNamed);
    for (std::size_t at = 0; at < named; ++at)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", steps.all()[at].name);
    return fmt::format("growth is not told per \"{}\": no range and no mark has that name; {}{}",
                       wanted, names.empty() ? "there are none" : "there are " + names,
                       named < steps.all().size() ? " and others" : "");
}

std::string several_jobs_notice(const Report& report)
{
    constexpr std::size_t kNamed = 4;
    std::set<std::string> jobs;
    for (const Process& process : report.processes)
        if (const std::string& job = process.info_value("job"); !job.empty())
            jobs.insert(job);
    if (jobs.size() < 2)
        return {};
    std::string names;
    std::size_t named = 0;
    for (const std::string& job : jobs)
        if (named++ < kNamed)
            names += (names.empty() ? "" : ", ") + job;
    return fmt::format("these are logs of {} jobs ({}{}), whose ranks are counted together here: "
                       "read each job's by itself",
                       jobs.size(), names, jobs.size() > kNamed ? ", …" : "");
}

std::string few_steps(const std::string& wanted, std::uint64_t count)
{
    return fmt::format(
        "growth is not told per \"{}\": there are {} of them, and fewer than {} tell nothing",
        wanted, count, kFewestSteps);
}

} // namespace vramscope::report
