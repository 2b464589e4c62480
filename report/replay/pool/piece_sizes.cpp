// report/replay/pool/piece_sizes.cpp — one sort, and the two indexes of kernels.
#include "report/replay/pool/piece_sizes.hpp"

#include <algorithm>

namespace vramscope::report {

PieceSizes::PieceSizes(const PoolSnapshot& snapshot)
{
    std::vector<std::uint64_t> all;
    for (const SegmentPieces& segment : snapshot.segments) {
        for (const BlockPiece& piece : segment.blocks) {
            if (piece.state == BlockState::inactive)
                all.push_back(piece.bytes);
        }
    }
    std::sort(all.begin(), all.end());
    for (const std::uint64_t size : all) {
        if (sizes_.empty() || sizes_.back().first != size)
            sizes_.emplace_back(size, 0);
        ++sizes_.back().second;
        bytes_ += size;
    }
    pieces_ = all.size();
}

double PieceSizes::unusable_for(std::uint64_t size) const
{
    if (bytes_ == 0 || size == 0)
        return bytes_ == 0 ? 1 : 0;
    double usable = 0;
    for (auto at = sizes_.rbegin(); at != sizes_.rend() && at->first >= size; ++at)
        usable +=
            static_cast<double>(at->first - at->first % size) * static_cast<double>(at->second);
    return std::clamp(1 - usable / static_cast<double>(bytes_), 0.0, 1.0);
}

double PieceSizes::fragmentation_for(std::uint64_t size) const
{
    if (pieces_ == 0 || size == 0)
        return 0;
    if (largest() >= size)
        return -1;
    const double fits = static_cast<double>(bytes_) / static_cast<double>(size);
    return std::max(0.0, 1 - (1 + fits) / static_cast<double>(pieces_));
}

} // namespace vramscope::report
