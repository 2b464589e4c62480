// report/model/pool.cpp — bytes of pieces into cells.
#include "report/model/pool.hpp"

#include <algorithm>

namespace vramscope::report {

// A cell shows what is in most of its bytes; allocated beside free is a mixture.
std::string segment_cells(const std::vector<SegmentPieces>& segments, std::size_t width)
{
    std::uint64_t all = 0;
    for (const SegmentPieces& segment : segments)
        all += segment.bytes;
    if (all == 0 || width == 0)
        return {};
    struct Cell {
        double allocated = 0;
        double pending = 0;
    };
    std::vector<Cell> cells(width);
    const double per_cell = static_cast<double>(all) / static_cast<double>(width);
    double at = 0; // in cells
    for (const SegmentPieces& segment : segments) {
        for (const BlockPiece& block : segment.blocks) {
            const double end = at + static_cast<double>(block.bytes) / per_cell;
            for (auto cell = static_cast<std::size_t>(at);
                 block.state != BlockState::inactive && cell < width &&
                 static_cast<double>(cell) < end;
                 ++cell) {
                const double part = std::min(end, static_cast<double>(cell) + 1) -
                                    std::max(at, static_cast<double>(cell));
                (block.state == BlockState::active_allocated ? cells[cell].allocated
                                                             : cells[cell].pending) += part;
            }
            at = end;
        }
    }
    std::string text;
    for (const Cell& cell : cells)
        text += cell.allocated > 0.9   ? '#'
                : cell.allocated > 0.1 ? '+'
                : cell.pending > 0.5   ? '~'
                                       : '.';
    return text;
}

} // namespace vramscope::report
