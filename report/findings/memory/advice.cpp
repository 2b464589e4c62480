// report/findings/memory/advice.cpp — each byte of the peak is in one piece of advice at most.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint64_t kLeastPairs = 10;    // fewer are no loop
constexpr std::size_t kMostReadSites = 1000; // sites whose stacks are read
constexpr std::uint64_t kLeastPart = 1000;   // less than a thousandth of the peak is left out

class AdviceTable {
public:
    AdviceTable(const HeapReplay& heap, const LeakSource& log) : heap_(heap), log_(log) {}

    void add(AdviceKind kind, SiteId at, std::uint64_t saving, std::uint64_t blocks,
             PhaseKind other = 0, std::uint64_t block_bytes = 0)
    {
        const Site& site = heap_.sites()[at];
        CallPlace place = log_.stacks.read(site.api, site.stack, site.first_ticks);
        const std::string phase = heap_.phases().kind_name(site.phase);
        const auto [found, added] = rows_.try_emplace(
            std::tuple(kind, phase, std::to_string(block_bytes) + '\0' + place.key()));
        Advice& row = found->second;
        if (added) {
            static_cast<CallPlace&>(row) = std::move(place);
            row.kind = kind;
            row.phase = phase;
            row.bytes = block_bytes;
            row.other_phase = heap_.phases().kind_name(other);
        }
        row.saving += saving;
        row.blocks += blocks;
    }

    std::vector<Advice> take()
    {
        std::vector<Advice> rows;
        for (auto& [key, row] : rows_)
            rows.push_back(std::move(row));
        std::stable_sort(rows.begin(), rows.end(), [](const Advice& a, const Advice& b) {
            return std::tie(b.saving, b.blocks) < std::tie(a.saving, a.blocks);
        });
        rows.resize(std::min(rows.size(), kMostAdvice));
        return rows;
    }

private:
    const HeapReplay& heap_;
    const LeakSource& log_;
    std::map<std::tuple<AdviceKind, std::string, std::string>, Advice> rows_;
};

std::uint64_t bytes_of(const std::vector<PeakHolding>& holdings)
{
    std::uint64_t sum = 0;
    for (const PeakHolding& holding : holdings)
        sum += holding.bytes;
    return sum;
}

} // namespace

std::vector<SiteAdvice> advise(const std::vector<PeakHolding>& holdings, bool conclusive)
{
    std::vector<SiteAdvice> advice;
    const std::uint64_t peak = bytes_of(holdings);
    std::size_t read = 0;
    for (const PeakHolding& holding : holdings) {
        if (holding.bytes < peak / kLeastPart || ++read > kMostReadSites)
            continue;
        if (holding.kept_bytes > 0 && conclusive)
            advice.push_back(
                {AdviceKind::never_freed, holding.site, holding.kept_bytes, holding.kept_blocks});
        if (holding.early_bytes > 0)
            advice.push_back({AdviceKind::allocated_early, holding.site, holding.early_bytes,
                              holding.early_blocks, holding.early_phase});
        if (holding.late_bytes > 0 && holding.phase_was_over)
            advice.push_back(
                {AdviceKind::released_late, holding.site, holding.late_bytes, holding.late_blocks});
    }
    return advice;
}

std::vector<Advice> find_advice(const std::vector<PeakHolding>& holdings,
                                const std::vector<RepeatedPairs>& pairs, const HeapReplay& heap,
                                const LeakSource& log)
{
    AdviceTable table(heap, log);
    for (const SiteAdvice& one : advise(holdings, log.end.conclusive()))
        table.add(one.kind, one.site, one.bytes, one.blocks, one.other);
    const std::uint64_t peak = bytes_of(holdings);
    std::size_t read = 0;
    for (const PeakHolding& holding : holdings)
        if (holding.copied_bytes > peak / kLeastPart && holding.early_bytes == 0 &&
            !holding.phase_was_over && ++read <= kMostReadSites)
            table.add(AdviceKind::grow_by_copy, holding.site, holding.copied_bytes, 1);
    read = 0;
    for (const RepeatedPairs& repeated : pairs) {
        if (repeated.pairs >= kLeastPairs && repeated.bytes > 0 && ++read <= kMostReadSites)
            table.add(AdviceKind::redundant_pairs, repeated.site, 0, repeated.pairs, 0,
                      repeated.bytes);
    }
    return table.take();
}

} // namespace vramscope::report
