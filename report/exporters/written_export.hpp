// report/exporters/written_export.hpp — what exports share that write while they read the log.
//
// The log and what it defines, the names of its frames, and the text on its way to the sink.
#pragma once

#include <string>

#include "report/exporters/exported_log.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

class TextPieces {
public:
    explicit TextPieces(const Sink& sink) : sink_(sink) {} // it outlives this

    void give_piece(); // to the sink, if there is enough for one
    void give_rest();

    std::string text; // not given yet

private:
    const Sink& sink_;
};

class WrittenExport : protected ExportedLog {
protected:
    WrittenExport(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options,
                  double definitions = 0)
        : ExportedLog(log, options, definitions), symbolizer_(options.symbols), pieces_(sink)
    {
    }
    ~WrittenExport() = default;

    void give_piece() { pieces_.give_piece(); }
    void give_rest(); // and tells which modules' frames got no names

    Symbolizer symbolizer_;

private:
    TextPieces pieces_;

protected:
    std::string& text_ = pieces_.text;
};

} // namespace vramscope::report
