// report/exporters/written_export.cpp — see written_export.hpp.
#include "report/exporters/written_export.hpp"

namespace vramscope::report {

void TextPieces::give_piece()
{
    constexpr std::size_t kPieceBytes = 256 * 1024;
    if (text.size() >= kPieceBytes)
        give_rest();
}

void TextPieces::give_rest()
{
    sink_(text);
    text.clear();
}

void WrittenExport::give_rest()
{
    pieces_.give_rest();
    if (options_.unread_files)
        options_.unread_files(symbolizer_.unread_files());
}

} // namespace vramscope::report
