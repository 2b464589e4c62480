// report/exporters/written_export.cpp — see written_export.hpp.
#include "report/exporters/written_export.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;

} // namespace

WrittenExport::WrittenExport(const std::filesystem::path& log, const Sink& sink,
                             const ExportOptions& options, double definitions)
    : file_(LogFile::open(log)), options_(options), symbolizer_(options.symbols),
      known_(definitions > 0
                 ? read_definitions(file_, [&](double part) { progress(definitions * part); })
                 : read_definitions(file_, {})),
      sink_(sink)
{
}

void WrittenExport::progress(double fraction) const
{
    if (options_.progress)
        options_.progress(fraction);
}

void WrittenExport::give()
{
    sink_(text_);
    text_.clear();
}

void WrittenExport::give_piece()
{
    if (text_.size() >= kPieceBytes)
        give();
}

void WrittenExport::give_rest()
{
    give();
    if (options_.unread_files)
        options_.unread_files(symbolizer_.unread_files());
}

} // namespace vramscope::report
