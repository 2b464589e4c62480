// report/model/memory/pool.cpp — bytes of pieces into cells.
#include "report/model/memory/pool.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

void add(NamedCounts& all, const std::string& name, const Stat& stat)
{
    all.emplace_back(name + ".current", stat.current);
    all.emplace_back(name + ".peak", stat.peak);
    all.emplace_back(name + ".allocated", stat.allocated);
    all.emplace_back(name + ".freed", stat.freed);
}

} // namespace

NamedCounts PoolStats::named() const
{
    NamedCounts all;
    for (const NamedPoolStat& counter : kPoolStats) {
        const PoolStat& stat = this->*counter.stat;
        const std::string key = counter.key;
        add(all, key + ".all", stat.all);
        add(all, key + ".large_pool", stat.large_pool);
        add(all, key + ".small_pool", stat.small_pool);
    }
    add(all, "oversize_allocations", oversize_allocations);
    add(all, "oversize_segments", oversize_segments);
    all.emplace_back("num_alloc_retries", num_alloc_retries);
    all.emplace_back("num_ooms", num_ooms);
    all.emplace_back("num_sync_all_streams", num_sync_all_streams);
    all.emplace_back("num_device_alloc", num_device_alloc);
    all.emplace_back("num_device_free", num_device_free);
    return all;
}

std::uint64_t SegmentPieces::allocated_bytes() const
{
    std::uint64_t sum = 0;
    for (const BlockPiece& block : blocks)
        sum += block.state == BlockState::active_allocated ? block.bytes : 0;
    return sum;
}

std::uint64_t SegmentPieces::active_bytes() const
{
    std::uint64_t sum = 0;
    for (const BlockPiece& block : blocks)
        sum += block.state == BlockState::inactive ? 0 : block.bytes;
    return sum;
}

std::uint64_t SegmentPieces::requested_bytes() const
{
    std::uint64_t sum = 0;
    for (const BlockPiece& block : blocks)
        sum += block.state == BlockState::active_allocated ? block.requested : 0;
    return sum;
}

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
