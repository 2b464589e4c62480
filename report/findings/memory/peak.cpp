// report/findings/memory/peak.cpp — sites become rows; the small ones are summed up.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

// Stacks of sites beyond are not read: what they have is summed up.
constexpr std::size_t kMostReadHoldings = 4096;

template <typename Row>
bool larger(const Row& a, const Row& b)
{
    return std::tie(b.bytes, b.blocks) < std::tie(a.bytes, a.blocks);
}

std::string module_of(const CallPlace& place)
{
    return place.stack.empty() ? std::string() : std::string(file_name(place.stack.front().module));
}

class PartTable {
public:
    void add(const std::string& name, const PeakHolding& holding)
    {
        PeakPart& part = parts_[name];
        part.name = name;
        part.bytes += holding.bytes;
        part.blocks += holding.blocks;
    }

    std::vector<PeakPart> take()
    {
        std::vector<PeakPart> parts;
        for (auto& [name, part] : parts_)
            parts.push_back(std::move(part));
        std::stable_sort(parts.begin(), parts.end(), larger<PeakPart>);
        if (parts.size() > kMostPeakParts) {
            PeakPart others{.name = kOtherParts};
            for (std::size_t at = kMostPeakParts - 1; at < parts.size(); ++at) {
                others.bytes += parts[at].bytes;
                others.blocks += parts[at].blocks;
            }
            parts.resize(kMostPeakParts - 1);
            parts.push_back(others);
        }
        return parts;
    }

private:
    std::map<std::string, PeakPart> parts_;
};

struct PeakRow {
    PeakStack stack;
    PhaseKind phase = 0;
    bool phases_differ = false;
};

} // namespace

Peak find_peak(std::vector<PeakHolding> holdings, const HeapReplay& heap, const LeakSource& log)
{
    std::stable_sort(holdings.begin(), holdings.end(), larger<PeakHolding>);
    Peak peak;
    PartTable modules, phases, apis;
    std::map<std::string, PeakRow> rows; // keyed by place: equal input, equal order
    for (std::size_t at = 0; at < holdings.size(); ++at) {
        const PeakHolding& holding = holdings[at];
        const Site& site = heap.sites()[holding.site];
        peak.bytes += holding.bytes;
        peak.blocks += holding.blocks;
        phases.add(heap.phases().kind_name(site.phase), holding);
        if (at >= kMostReadHoldings) {
            ++peak.more_stacks;
            peak.more_bytes += holding.bytes;
            peak.more_blocks += holding.blocks;
            modules.add(kOtherParts, holding);
            apis.add(kOtherParts, holding);
            continue;
        }
        CallPlace place = log.stacks.read(site.api, site.stack, site.first_ticks);
        modules.add(module_of(place), holding);
        apis.add(place.api, holding);
        const auto [found, added] =
            rows.try_emplace(std::string(1, static_cast<char>(site.memory)) + place.key());
        PeakRow& row = found->second;
        if (added) {
            static_cast<CallPlace&>(row.stack) = std::move(place);
            row.stack.memory = site.memory;
            row.phase = site.phase;
        } else {
            row.stack.merge(place);
        }
        row.phases_differ = row.phases_differ || row.phase != site.phase;
        row.stack.bytes += holding.bytes;
        row.stack.blocks += holding.blocks;
    }
    for (auto& [key, row] : rows) {
        if (!row.phases_differ)
            row.stack.phase = heap.phases().kind_name(row.phase);
        peak.stacks.push_back(std::move(row.stack));
    }
    std::stable_sort(peak.stacks.begin(), peak.stacks.end(), larger<PeakStack>);
    for (; peak.stacks.size() > kMostPeakStacks; peak.stacks.pop_back()) {
        ++peak.more_stacks;
        peak.more_bytes += peak.stacks.back().bytes;
        peak.more_blocks += peak.stacks.back().blocks;
    }
    peak.modules = modules.take();
    peak.phases = phases.take();
    peak.apis = apis.take();
    return peak;
}

} // namespace vramscope::report
