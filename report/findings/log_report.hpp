// report/findings/log_report.hpp — one log after the other is read, and its rows join the report.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "report/findings/make_report.hpp"
#include "report/findings/places/log_source.hpp"
#include "report/model/report.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

class LogReport {
public:
    // All three outlive it. `logs`: how many will be read.
    LogReport(Report& report, const Options& options, Symbolizer& symbolizer, std::size_t logs)
        : report_(report), options_(options), symbolizer_(symbolizer), logs_(logs)
    {
    }

    void read(const std::filesystem::path& path);

    // What is to be known of the frames' names, from files and from logs.
    std::vector<std::string> notices_of_names() const;

private:
    struct ReplayedLog;

    void replay(ReplayedLog& log);
    void tell_of_interruption(double fraction);
    Process describe_process(const ReplayedLog& log) const;
    void add_replayed_rows(Process& process, ReplayedLog& log);
    void add_leaks(Process& process, const ReplayedLog& log, const LeakSource& source);
    void add_followed_rows(Process& process, ReplayedLog& log);
    void add_lines(Process& process, const ReplayedLog& log);

    Report& report_;
    const Options& options_;
    Symbolizer& symbolizer_;
    const std::size_t logs_;
    std::vector<std::string> logged_notices_; // of names that were in logs
};

} // namespace vramscope::report
