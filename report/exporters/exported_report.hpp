// report/exporters/exported_report.hpp — the report that an export of sums is made from.
#pragma once

#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

inline Report report_for_export(const std::filesystem::path& log, const ExportOptions& options)
{
    Options reading;
    reading.progress = options.progress;
    reading.symbols = options.symbols;
    return make_report({log}, reading);
}

} // namespace vramscope::report
