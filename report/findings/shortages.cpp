// report/findings/shortages.cpp — the verdict, and the owners' stacks in words.
#include "report/model/shortages.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/findings.hpp"
#include "report/findings/memory/memory.hpp"
#include "tracker/format/frameworks.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownOwners = 10;

format::Memory memory_of(std::uint64_t api, const LogTables& tables)
{
    return api < tables.apis().size() ? tables.apis()[api].memory : format::Memory::none;
}

// Whether the bytes asked for are only a lower bound: pitches and tiles are the driver's secret.
bool is_padded(std::uint64_t api, const LogTables& tables)
{
    const format::Memory memory = memory_of(api, tables);
    return memory == format::Memory::pitched || memory == format::Memory::array ||
           memory == format::Memory::mipmap;
}

// What the user's own settings let the program have. `limit` changes what free and total are.
void find_setting(Shortage& shortage, const LogTables& tables)
{
    const auto set = [&](const char* name, std::uint64_t allowed) {
        const std::string value(tables.info_value("pool." + std::string(name)));
        if (value.empty() || shortage.total == 0)
            return;
        shortage.setting = name + ("=" + value);
        shortage.allowed = allowed;
    };
    const auto limit = format::read_size(tables.info_value("pool.limit"));
    if (!limit || *limit <= shortage.total) // else the device has less
        set("limit", shortage.total);
    const std::string part(tables.info_value("pool.per_process_memory_fraction"));
    if (shortage.pooled)
        set("per_process_memory_fraction",
            static_cast<std::uint64_t>(std::strtod(part.c_str(), nullptr) *
                                       static_cast<double>(shortage.total)));
}

// By a part of the device: the pool takes segments of up to 20 MiB, or as large as a request.
bool is_above_the_part(const Shortage& shortage)
{
    constexpr std::uint64_t kSegmentBytes = std::uint64_t{20} << 20;
    return shortage.allowed > 0 && shortage.allowed < shortage.total &&
           shortage.reserved + std::max(shortage.requested, kSegmentBytes) > shortage.allowed;
}

void judge(Shortage& shortage)
{
    if (shortage.requested >= kImpossibleBytes) {
        shortage.kind = ShortageKind::impossible;
        return;
    }
    if (shortage.from_mempool && shortage.full_mempool()) {
        shortage.kind = ShortageKind::limited;
        return;
    }
    const std::uint64_t all = shortage.free_in_all();
    if (shortage.pooled && !shortage.at_least && shortage.largest_gap >= shortage.requested) {
        shortage.kind = ShortageKind::cached;
    } else if (shortage.free_known() && all < shortage.requested) {
        shortage.kind = ShortageKind::lacking;
        shortage.short_by = shortage.requested - all;
    } else if (!shortage.free_known() || shortage.at_least) {
        shortage.kind = ShortageKind::unknown;
    } else if (shortage.free >= shortage.requested) {
        shortage.kind = is_above_the_part(shortage) ? ShortageKind::limited : ShortageKind::refused;
    } else {
        shortage.kind = ShortageKind::fragmented;
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

// How many bytes and blocks of each call lie beside a free piece.
std::vector<PieceOwner> beside_gaps(const PoolSnapshot& pieces)
{
    std::vector<PieceOwner> calls(pieces.calls.size());
    for (const SegmentPieces& segment : pieces.segments) {
        const std::vector<BlockPiece>& blocks = segment.blocks;
        const auto is_free = [&](std::size_t at) {
            return at < blocks.size() && blocks[at].state == BlockState::inactive;
        };
        for (std::size_t at = 0; at < blocks.size(); ++at)
            if (blocks[at].owner < calls.size() &&
                (is_free(at + 1) || (at > 0 && is_free(at - 1)))) {
                calls[blocks[at].owner].bytes += blocks[at].bytes;
                ++calls[blocks[at].owner].blocks;
            }
    }
    return calls;
}

// What a reader sees as one call may have many stacks: only those with the most blocks are read.
std::optional<PieceOwner> holds_apart(const PoolSnapshot& pieces, StackReader& stacks)
{
    constexpr std::size_t kMostRead = 20;
    const std::vector<PieceOwner> calls = beside_gaps(pieces);
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < calls.size(); ++at)
        if (calls[at].blocks > 0)
            order.push_back(at);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return calls[a].blocks > calls[b].blocks;
    });
    order.resize(std::min(order.size(), kMostRead));
    std::map<std::string, PieceOwner> owners;
    for (const std::size_t at : order) {
        const PieceCall& call = pieces.calls[at];
        const CallPlace place = stacks.read(call.api, call.stack, call.ticks);
        const auto [found, added] = owners.try_emplace(place.key());
        PieceOwner& owner = found->second;
        if (added)
            static_cast<CallPlace&>(owner) = place;
        else
            owner.merge(place);
        owner.bytes += calls[at].bytes;
        owner.blocks += calls[at].blocks;
    }
    const auto most =
        std::max_element(owners.begin(), owners.end(), [](const auto& a, const auto& b) {
            return a.second.blocks < b.second.blocks;
        });
    return most == owners.end() ? std::nullopt : std::optional(most->second);
}

std::string remedy_for(const Shortage& shortage)
{
    const bool of_pytorch = shortage.of_allocator && shortage.entry_point == format::kPyTorch;
    return of_pytorch && would_fit_in_pages(shortage)
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
        for (const LoggedMempool& pool : one.mempools)
            row.mempools.push_back(mempool_of(pool, source));
        sort_by_kept(row.mempools);
        row.from_mempool = memory_of(one.api, source.tables) == format::Memory::async;
        find_setting(row, source.tables);
        judge(row);
        row.remedy = remedy_for(row);
        row.owners = find_leaks(one.owners, source).leaks;
        sort_by_size(row.owners);
        row.owners.resize(std::min(row.owners.size(), kShownOwners));
        row.apart = holds_apart(one.pieces, source.stacks);
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
