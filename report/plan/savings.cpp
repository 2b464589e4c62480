// report/plan/savings.cpp — a trace in which memory of some sites is not there at the peak.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "report/findings/memory/memory.hpp"
#include "report/findings/process_end.hpp"
#include "report/plan/holders.hpp"
#include "report/plan/replay/compare.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::size_t kMostTried = 6;
constexpr std::size_t kMostTriedOfLong = 2; // each is a copy of the trace, and a replay

struct Change {
    PlanSaving row;
    std::vector<SiteId> sites;    // sorted
    std::uint64_t from_ticks = 0; // for allocated_early: when it is needed
};

// The blocks of a change, by BlockId: those that are alive before the request of the peak, and
// freed after it, or, if they are never freed, not.
std::vector<bool> blocks_of(const TraceWatch::DeviceTrace& device, const Change& change)
{
    const Trace& trace = device.trace;
    std::vector<bool> chosen(trace.sites.size());
    std::vector<bool> freed(trace.sites.size());
    for (std::size_t at = 0; at < trace.requests.size(); ++at) {
        const Request& request = trace.requests[at];
        if (at < device.facts.peak_request && request.action == Action::allocate)
            chosen[request.block] = std::binary_search(change.sites.begin(), change.sites.end(),
                                                       trace.sites[request.block]);
        if (!gives_back(request.action))
            continue;
        if (at <= device.facts.peak_request)
            chosen[request.block] = false;
        freed[request.block] = true;
    }
    const bool wants_freed = change.row.kind != AdviceKind::never_freed;
    for (std::size_t block = 0; block < chosen.size(); ++block)
        chosen[block] = chosen[block] && freed[block] == wants_freed;
    return chosen;
}

class ChangedTrace {
public:
    ChangedTrace(const TraceWatch::DeviceTrace& device, const Change& change)
        : device_(device), change_(change), chosen_(blocks_of(device, change))
    {
        trace_ = {.device = device.trace.device,
                  .at_start = device.trace.at_start,
                  .requests = {},
                  .sites = device.trace.sites,
                  .base_bytes = device.trace.base_bytes,
                  .device_bytes = device.trace.device_bytes,
                  .unknown = {}};
        trace_.requests.reserve(device.trace.requests.size());
    }

    Trace make()
    {
        const std::vector<Request>& requests = device_.trace.requests;
        const bool early = change_.row.kind == AdviceKind::allocated_early;
        bool waiting = early;
        for (std::size_t at = 0; at < requests.size(); ++at) {
            const Request& request = requests[at];
            const bool chosen = request.block < chosen_.size() && chosen_[request.block];
            if (!early && at == device_.facts.peak_request)
                end_all(request.ticks);
            if (waiting && at > device_.facts.peak_request && request.ticks >= change_.from_ticks)
                waiting = !begin_all(request.ticks);
            if (chosen && request.action == Action::allocate) {
                births_.push_back(request);
                if (early)
                    continue;
            }
            if (chosen && gives_back(request.action) && (!early || waiting)) {
                chosen_[request.block] = !early; // it is not needed at all
                continue;
            }
            trace_.requests.push_back(request);
        }
        return std::move(trace_);
    }

private:
    void end_all(std::uint64_t ticks)
    {
        for (Request birth : births_) {
            birth.action = Action::free;
            birth.ticks = ticks;
            trace_.requests.push_back(birth);
        }
    }
    bool begin_all(std::uint64_t ticks)
    {
        for (Request birth : births_) {
            birth.ticks = ticks;
            if (chosen_[birth.block])
                trace_.requests.push_back(birth);
        }
        return true;
    }

    const TraceWatch::DeviceTrace& device_;
    const Change& change_;
    std::vector<bool> chosen_; // by BlockId
    std::vector<Request> births_;
    Trace trace_;
};

std::uint64_t live_peak(const Trace& trace)
{
    std::uint64_t live = 0;
    for (const StartSegment& segment : trace.at_start) {
        for (const StartBlock& block : segment.blocks)
            live += block.bytes;
    }
    std::uint64_t peak = live;
    for (const Request& request : trace.requests) {
        if (request.action == Action::allocate)
            peak = std::max(peak, live += request.bytes);
        else if (gives_back(request.action))
            live -= std::min(live, request.bytes);
    }
    return peak;
}

// Sites that a reader takes for one place, and that the same can be said of, are one change.
std::vector<Change> changes_of(const TracedLog& log, const TraceWatch::DeviceTrace& device,
                               Places& places)
{
    const DeviceMemory::Device* const memory = log.memory().device(device.trace.device);
    if (!memory)
        return {};
    std::map<std::string, Change> changes;
    for (const SiteAdvice& one :
         advise(log.holders().at_peaks()[memory->index], log.ended_by_itself())) {
        CallPlace place = places.of_site(one.site);
        const PhaseKind phase = one.other != 0 ? one.other : log.heap().sites()[one.site].phase;
        const auto [found, added] = changes.try_emplace(std::string(name(one.kind)) + '\0' +
                                                        std::to_string(phase) + '\0' + place.key());
        Change& change = found->second;
        if (added) {
            static_cast<CallPlace&>(change.row) = std::move(place);
            change.row.kind = one.kind;
            change.row.phase = log.heap().phases().kind_name(phase);
            change.from_ticks = log.holders().first_ticks(one.other);
        }
        change.row.bytes += one.bytes;
        change.row.blocks += one.blocks;
        change.sites.push_back(one.site);
    }
    std::vector<Change> found;
    for (auto& [key, change] : changes) {
        std::sort(change.sites.begin(), change.sites.end());
        found.push_back(std::move(change));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Change& a, const Change& b) { return a.row.bytes > b.row.bytes; });
    return found;
}

} // namespace

std::vector<PlanSaving> find_savings(const TracedLog& log, const TraceWatch::DeviceTrace& device,
                                     const PolicyRow& policy, std::uint64_t peak_reserved,
                                     Places& places)
{
    const bool is_long = device.trace.requests.size() >= kSearchAllBelow;
    std::vector<Change> changes = changes_of(log, device, places);
    changes.resize(std::min(changes.size(), is_long ? kMostTriedOfLong : kMostTried));
    const auto try_out = [&](std::size_t at) {
        const Trace changed = ChangedTrace(device, changes[at]).make();
        const std::uint64_t reserved = replay(changed, policy).peak.reserved;
        const std::uint64_t live = live_peak(changed);
        PlanSaving& row = changes[at].row;
        row.saves_reserved = peak_reserved - std::min(peak_reserved, reserved);
        row.saves_live = device.facts.peak_live - std::min(device.facts.peak_live, live);
    };
    if (is_long)
        for (std::size_t at = 0; at < changes.size(); ++at)
            try_out(at);
    else
        side_by_side(changes.size(), try_out);
    std::vector<PlanSaving> savings;
    for (Change& change : changes) {
        if (change.row.saves_reserved + change.row.saves_live > 0)
            savings.push_back(std::move(change.row));
    }
    std::stable_sort(savings.begin(), savings.end(), [](const PlanSaving& a, const PlanSaving& b) {
        return a.saves_reserved > b.saves_reserved;
    });
    return savings;
}

} // namespace vramscope::report::plan
