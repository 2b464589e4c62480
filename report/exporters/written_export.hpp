// report/exporters/written_export.hpp — what exports share that write while they read the log.
//
// They share the log and what it defines, and the text on its way to the sink.
#pragma once

#include <filesystem>
#include <string>

#include "report/exporters/exporters.hpp"
#include "report/log/first_reading.hpp"
#include "report/log/log_file.hpp"

namespace vramscope::report {

class WrittenExport {
protected:
    // `definitions`: the share of the time in which they are read; 0: no progress is told of it.
    // The sink and the options outlive this.
    WrittenExport(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options,
                  double definitions = 0);
    ~WrittenExport() = default;

    void progress(double fraction) const;
    void give_piece(); // of the text, to the sink, if there is enough for one
    void give_rest();  // and tells which modules' frames got no names

    const LogFile file_;
    const ExportOptions& options_;
    Symbolizer symbolizer_;
    Definitions known_;
    std::string text_; // not given to the sink yet

private:
    void give();

    const Sink& sink_;
};

} // namespace vramscope::report
