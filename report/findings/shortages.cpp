// report/findings/shortages.cpp — the verdict, and the owners' stacks in words.
#include <algorithm>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/findings/memory/memory.hpp"
#include "tracker/format/frameworks.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownOwners = 10;

// Whether the bytes asked for are only a lower bound: pitches and tiles are the driver's secret.
bool is_padded(std::uint64_t api, const LogTables& tables)
{
    if (api >= tables.apis().size())
        return false;
    const format::Memory memory = tables.apis()[api].memory;
    return memory == format::Memory::pitched || memory == format::Memory::array ||
           memory == format::Memory::mipmap;
}

void judge(Shortage& shortage)
{
    const bool unused = shortage.pooled && shortage.reserved > shortage.allocated;
    const std::uint64_t cached = unused ? shortage.reserved - shortage.allocated : 0;
    const std::uint64_t all = shortage.free + std::min(cached, UINT64_MAX - shortage.free);
    if (shortage.pooled && !shortage.at_least && shortage.largest_gap >= shortage.requested) {
        shortage.kind = ShortageKind::cached;
    } else if (shortage.free_known() && all < shortage.requested) {
        shortage.kind = ShortageKind::lacking;
        shortage.short_by = shortage.requested - all;
    } else if (!shortage.free_known() || shortage.at_least) {
        shortage.kind = ShortageKind::unknown;
    } else {
        shortage.kind = ShortageKind::fragmented;
        shortage.estimated = shortage.free >= shortage.requested;
        if (!shortage.estimated)
            shortage.short_by = shortage.requested - std::max(shortage.free, shortage.largest_gap);
    }
}

// Segments that grow give their free pages back to the driver, wherever they lie. A free piece
// loses less than a page of 20 MiB at either end.
bool would_fit_in_pages(const Shortage& shortage)
{
    constexpr std::uint64_t kPageBytes = std::uint64_t{20} << 20;
    const std::uint64_t most_lost = 2 * kPageBytes * shortage.free_pieces;
    return shortage.owners_known && shortage.kind == ShortageKind::fragmented &&
           shortage.free_bytes >= most_lost &&
           shortage.free_bytes - most_lost >= shortage.requested - shortage.free;
}

std::string remedy_for(const Shortage& shortage)
{
    const bool of_pytorch = shortage.of_allocator && shortage.entry_point == format::kPyTorch;
    return of_pytorch && !shortage.estimated && would_fit_in_pages(shortage)
               ? "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
               : "";
}

} // namespace

std::vector<Shortage> find_shortages(std::vector<LoggedShortage> logged, bool pooled, bool mapped,
                                     const LeakSource& source)
{
    std::vector<Shortage> rows;
    for (LoggedShortage& one : logged) {
        Shortage row;
        static_cast<CallPlace&>(row) = source.stacks.read(one.api, one.stack, one.ticks);
        static_cast<ShortageNumbers&>(row) = one;
        row.at_ns = source.clock.ns(one.ticks);
        row.at_least = one.requested == 0 || is_padded(one.api, source.tables);
        row.pooled = pooled || one.of_allocator;
        judge(row);
        row.remedy = remedy_for(row);
        row.owners = find_leaks(one.owners, source).leaks;
        sort_by_size(row.owners);
        row.owners.resize(std::min(row.owners.size(), kShownOwners));
        if (mapped) {
            row.pieces = map_of(std::move(one.pieces), row.at_ns, &source.stacks);
            row.pieces.largest_gap = row.largest_gap;
        }
        row.process = source.process;
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace vramscope::report
