// report/plan/make_plan.cpp — each log's devices are replayed, and their rows put together.
#include "report/plan/make_plan.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/process_end.hpp"
#include "report/model/shortages.hpp"
#include "report/plan/holders.hpp"
#include "report/plan/packing.hpp"
#include "report/plan/pins.hpp"
#include "report/plan/places.hpp"
#include "report/plan/recorded_policy.hpp"
#include "report/plan/replay/compare.hpp"
#include "report/plan/scale.hpp"
#include "report/plan/sharing.hpp"
#include "report/plan/trace/read_trace.hpp"

namespace vramscope::report::plan {
namespace {

using DeviceTrace = TraceWatch::DeviceTrace;

class PlanOfLog {
public:
    PlanOfLog(const std::filesystem::path& path, const PlanOptions& options, Symbolizer& symbolizer)
        : options_(options), log_(path), places_(log_, symbolizer)
    {
    }

    PlanProcess make(const std::function<void(double)>& progress)
    {
        log_.read({.progress = progress, .interrupted = options_.interrupted});
        PlanProcess process;
        process.pid = log_.file().header().pid;
        process.program = log_.tables().info_value("program");
        process.log = log_.file().path();
        process.allocator = log_.allocator();
        process.pool_mode = log_.pool_mode();
        add_doubts(process.doubts);
        for (DeviceTrace& device : log_.devices()) {
            if (!device.trace.sites.empty())
                process.devices.push_back(plan_of(device, process.doubts));
        }
        return process;
    }

private:
    // Whether there may be requests that are not in the log.
    void add_doubts(std::vector<std::string>& doubts) const
    {
        const format::FileHeader& header = log_.file().header();
        const bool running = is_running(header);
        const ProcessEnd end = judge_end(header, running);
        const Coverage coverage = log_.coverage();
        if (log_.imported())
            doubts.emplace_back("the recording ends before the program: what it asked for later is "
                                "not here");
        else if (running)
            doubts.emplace_back("the program is still running: what it will ask for is not here");
        else if (!end.conclusive())
            doubts.push_back(fmt::format(
                "the program {}: what it would have asked for later is not here", describe(end)));
        const std::uint64_t lost =
            std::accumulate(coverage.lost.begin(), coverage.lost.end(), std::uint64_t{0});
        if (lost > 0)
            doubts.push_back(fmt::format("{} events were lost when the log was written", lost));
        if (coverage.truncated)
            doubts.emplace_back("the log is cut: events at its end are missing");
        if (coverage.damaged_chunks > 0)
            doubts.emplace_back("the log is damaged: events are missing");
    }

    PlanDevice plan_of(DeviceTrace& device, std::vector<std::string>& doubts)
    {
        const Trace& trace = device.trace;
        PlanDevice to;
        const std::optional<PolicyRow> recorded = recorded_policy(log_, to.unknown);
        if (recorded && log_.allocator().empty())
            correct_base(device, *recorded);
        to.device = trace.device;
        to.device_bytes = trace.device_bytes;
        to.base = trace.base_bytes;
        to.base_known = log_.base_known(trace.device);
        to.requests = trace.requests.size();
        to.live_peak = device.facts.peak_live;
        to.live_peak_ns = trace.requests.empty()
                              ? 0
                              : places_.ns(trace.requests[device.facts.peak_request].ticks);
        to.beside_peak = device.facts.peak_beside;
        to.recorded_reserved = log_.recorded_reserved(trace.device);
        to.unknown.insert(to.unknown.begin(), trace.unknown.begin(), trace.unknown.end());
        const std::vector<PolicyRow> policies = policies_for(recorded, to);
        const Outcome judged = add_policies(to, device, policies);
        add_pins(to, device, policies.front(), judged.peak.request);
        add_holders(to, device, places_);
        to.packing = packing_of(trace);
        to.savings = find_savings(log_, device, policies.front(), to.policies.front().peak_reserved,
                                  places_);
        to.sharing =
            find_sharing(device, policies.front(), to.policies.front().peak_reserved, places_);
        const bool with_our_pool = policies.front().name.starts_with("cache") ||
                                   policies.front().name.starts_with("split");
        if (device.facts.stream_ordered > 0 && with_our_pool)
            doubts.push_back(fmt::format(
                "{} asked for by stream, of the driver's own pool: vramscope's is replayed in its "
                "place, and the smallest card may be larger",
                device.facts.stream_ordered == 1
                    ? "1 block was"
                    : fmt::format("{} blocks were", device.facts.stream_ordered)));
        if (!device.facts.failed.empty())
            doubts.push_back(
                fmt::format("{} failed for want of memory: what the program would "
                            "have asked for behind that is not here",
                            device.facts.failed.size() == 1 ? "1 request" : "some requests"));
        return to;
    }

    // What the driver says is used has its own rounding in it, which the log has not, and a replay
    // has. It may be asked within an allocation that the log has after its answer.
    static void correct_base(DeviceTrace& device, const PolicyRow& recorded)
    {
        const std::vector<UsedSample>& samples = device.facts.used;
        if (samples.empty())
            return;
        std::vector<std::uint64_t> taken(samples.size());
        CountedDevice counted;
        const std::unique_ptr<Policy> policy = recorded.make(counted);
        std::size_t next = 0; // the first sample that is not passed yet
        replay(device.trace, *policy, counted, false,
               [&](std::size_t at, const Policy&, const CountedDevice& now, const Outcome&) {
                   const std::uint64_t level = now.reserved() + now.beside();
                   for (; next < samples.size() && samples[next].requests < at; ++next)
                       ;
                   for (std::size_t one = next;
                        one < samples.size() && samples[one].requests <= at + 1; ++one) {
                       if (samples[one].requests == at + 1 || taken[one] < samples[one].reserved)
                           taken[one] = std::max(taken[one], level);
                   }
               });
        std::uint64_t most = 0;
        std::uint64_t least = UINT64_MAX;
        for (std::size_t at = 0; at < samples.size(); ++at) {
            const std::uint64_t rest = samples[at].used - std::min(samples[at].used, taken[at]);
            most = std::max(most, rest);
            least = std::min(least, rest);
        }
        // The driver's own pools are in what is used, and are no base.
        device.trace.base_bytes = device.facts.stream_ordered > 0 ? least : most;
    }

    // The one that is judged comes first.
    std::vector<PolicyRow> policies_for(const std::optional<PolicyRow>& recorded,
                                        PlanDevice& to) const
    {
        std::vector<PolicyRow> rows;
        for (const std::string& name : options_.policies)
            rows.push_back(policy_of(name));
        if (recorded && options_.policies.empty())
            rows.push_back(*recorded);
        for (PolicyRow& usual : options_.policies.empty() ? usual_policies() : rows_of(recorded)) {
            if (std::none_of(rows.begin(), rows.end(),
                             [&](const PolicyRow& row) { return row.name == usual.name; }))
                rows.push_back(std::move(usual));
        }
        for (const PolicyRow& row : rows) {
            PlanPolicy& listed = to.policies.emplace_back();
            listed.name = row.name;
            listed.words = row.words;
            listed.unsure = row.unsure;
            listed.recorded = recorded && recorded->name == row.name;
        }
        return rows;
    }

    static std::vector<PolicyRow> rows_of(const std::optional<PolicyRow>& row)
    {
        return row ? std::vector{*row} : std::vector<PolicyRow>();
    }

    // Gives the outcome of the first without a limit.
    Outcome add_policies(PlanDevice& to, const DeviceTrace& device,
                         const std::vector<PolicyRow>& policies)
    {
        const std::vector<Compared> compared = compare(device.trace, policies, options_.cards);
        for (std::size_t at = 0; at < policies.size(); ++at) {
            PlanPolicy& row = to.policies[at];
            const Compared& found = compared[at];
            row.peak_reserved = found.unlimited.peak.reserved;
            row.allocated_then = found.unlimited.peak.allocated;
            row.requested_then = found.unlimited.peak.requested;
            row.device_calls = found.unlimited.device_calls;
            row.searched = found.searched;
            if (found.smallest && found.smallest->bytes < kImpossibleBytes) {
                row.smallest_card = found.smallest->bytes;
                row.fails_above = found.smallest->fails_above;
            }
            for (std::size_t card = 0; card < options_.cards.size(); ++card)
                row.cards.push_back(card_of(options_.cards[card], found.on_cards[card], device,
                                            at == 0 ? &policies[at] : nullptr));
        }
        if (!device.facts.failed.empty() && device.trace.device_bytes > 0)
            to.recorded_failure = card_of(
                device.trace.device_bytes,
                replay(device.trace, policies.front(), {.capacity = device.trace.device_bytes}),
                device, &policies.front());
        return compared.front().unlimited;
    }

    static std::optional<PlanPacking> packing_of(const Trace& trace)
    {
        if (trace.requests.size() >= kSearchAllBelow)
            return std::nullopt;
        const Packing packing = pack(trace);
        if (packing.method.empty())
            return std::nullopt;
        return PlanPacking{packing.lower, packing.upper, trace.sites.size(), packing.method};
    }

    void add_pins(PlanDevice& to, const DeviceTrace& device, const PolicyRow& policy,
                  std::size_t peak)
    {
        const std::size_t last = device.trace.requests.size() - 1;
        const auto segments = segments_at(device.trace, policy, {peak, last});
        to.pins_at_peak = find_pins(segments[0], device, peak, places_);
        to.pins_at_end = find_pins(segments[1], device, last, places_);
    }

    // With the policy, also which blocks would have made room.
    PlanCard card_of(std::uint64_t bytes, const Outcome& outcome, const DeviceTrace& device,
                     const PolicyRow* policy)
    {
        PlanCard card{.bytes = bytes,
                      .fits = !outcome.out_of_memory,
                      .retries = outcome.retries,
                      .shortages = outcome.shortages,
                      .shortage = {}};
        if (card.fits)
            return card;
        const Shortage& first = *outcome.out_of_memory;
        PlanShortage& shortage = card.shortage.emplace();
        static_cast<CallPlace&>(shortage) = places_.of_block(device, first.block);
        if (first.request < device.trace.requests.size())
            shortage.at_ns = places_.ns(device.trace.requests[first.request].ticks);
        shortage.requested = first.bytes;
        shortage.reserved = first.reserved;
        shortage.allocated = first.allocated;
        shortage.beside = first.beside;
        shortage.largest_free = first.largest_free;
        shortage.is_beside = first.is_beside;
        if (!policy || first.request >= device.trace.requests.size())
            return card;
        const std::uint64_t taken = device.trace.base_bytes + first.reserved + first.beside;
        shortage.would_make_room = room_for(
            first.bytes, bytes - std::min(bytes, taken),
            segments_at(device.trace, *policy, {first.request}, bytes).front(), device, places_);
        return card;
    }

    const PlanOptions& options_;
    TracedLog log_;
    Places places_;
};

PlanVerdict verdict_of(const Plan& plan)
{
    bool any = false;
    bool doubtful = plan.interrupted;
    for (const PlanProcess& process : plan.processes) {
        doubtful = doubtful || !process.doubts.empty();
        for (const PlanDevice& device : process.devices) {
            any = true;
            for (const PlanCard& card : device.policies.front().cards) {
                if (!card.fits)
                    return PlanVerdict::does_not_fit;
            }
        }
    }
    if (!any)
        return PlanVerdict::nothing;
    return doubtful ? PlanVerdict::unknown : PlanVerdict::fits;
}

} // namespace

Plan make_plan(const std::vector<std::filesystem::path>& logs, const PlanOptions& options)
{
    Plan plan;
    plan.cards = options.cards;
    Symbolizer symbolizer(options.symbols);
    for (const std::string& name : options.policies)
        policy_of(name); // wrong ones are refused before anything is read
    std::optional<Dimension> dimension;
    if (!options.scale.empty())
        dimension = read_dimension(options.scale, logs.size());
    for (std::size_t at = 0; at < logs.size() && !plan.interrupted; ++at) {
        const auto progress = [&](double fraction) {
            if (options.progress)
                options.progress((static_cast<double>(at) + fraction) /
                                 static_cast<double>(logs.size()));
        };
        plan.processes.push_back(PlanOfLog(logs[at], options, symbolizer).make(progress));
        plan.interrupted = options.interrupted && options.interrupted();
    }
    plan.unread_files = symbolizer.unread_files();
    plan.notices = symbolizer.notices();
    plan.verdict = verdict_of(plan);
    if (dimension && !plan.interrupted)
        plan.scale = find_scale(*dimension, plan);
    return plan;
}

} // namespace vramscope::report::plan
