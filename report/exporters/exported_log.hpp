// report/exporters/exported_log.hpp — the log of an export, which reads what it defines first, and
// then all of it.
#pragma once

#include <filesystem>

#include "report/exporters/exporters.hpp"
#include "report/log/first_reading.hpp"
#include "report/log/log_file.hpp"

namespace vramscope::report {

class ExportedLog {
protected:
    // `definitions`: the share of the time in which they are read; 0: no progress is told of it.
    // The options outlive this.
    ExportedLog(const std::filesystem::path& log, const ExportOptions& options,
                double definitions = 0)
        : file_(LogFile::open(log)), options_(options),
          known_(definitions > 0
                     ? read_definitions(file_, [&](double part) { progress(definitions * part); })
                     : read_definitions(file_, {}))
    {
    }
    ~ExportedLog() = default;

    void progress(double fraction) const
    {
        if (options_.progress)
            options_.progress(fraction);
    }

    const LogFile file_;
    const ExportOptions& options_;
    Definitions known_;
};

} // namespace vramscope::report
