// report/plan/sharing.cpp — call stacks by what they have at once; traces in which two share.
#include "report/plan/sharing.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "report/plan/packing.hpp"
#include "report/plan/replay/compare.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::size_t kMostSites = 32; // those that have most at once
constexpr std::size_t kMostPairs = 8;  // pairs; each takes four replays
constexpr std::uint8_t kNone = UINT8_MAX;

struct SiteUse {
    std::uint64_t live = 0;
    std::uint64_t most = 0;
    std::uint16_t stream = 0;
    // Who uses its blocks when is not in the log's order, or they are not the allocator's own.
    bool unclear = false;
};

std::unordered_map<SiteId, SiteUse> uses_of(const Trace& trace)
{
    std::unordered_map<SiteId, SiteUse> uses;
    for (const StartSegment& segment : trace.at_start) {
        for (const StartBlock& block : segment.blocks)
            uses[trace.sites[block.block]].unclear = true;
    }
    for (const Request& request : trace.requests) {
        if (request.action != Action::allocate && !gives_back(request.action))
            continue;
        SiteUse& use = uses[trace.sites[request.block]];
        if (request.action != Action::allocate) {
            use.live -= std::min(use.live, request.bytes);
            use.unclear = use.unclear || request.action == Action::free_later;
            continue;
        }
        use.unclear =
            use.unclear || request.pool != 0 || (use.most > 0 && use.stream != request.stream);
        use.stream = request.stream;
        use.most = std::max(use.most, use.live += request.bytes);
    }
    uses.erase(TraceWatch::kNoSite);
    return uses;
}

struct Stack {
    PlanHolder row; // its most at once, and all its blocks
    std::uint16_t stream = 0;
    bool at_peak = false;
    std::uint64_t live = 0;
};

using Pair = std::pair<std::size_t, std::size_t>; // indices of stacks; the first is less

struct Together {
    std::uint64_t most = 0; // live of both
    bool at_once = false;
};

class SharingSearch {
public:
    SharingSearch(const TraceWatch::DeviceTrace& device, Places& places)
        : device_(device), trace_(device.trace), stack_of_(device.trace.sites.size(), kNone)
    {
        find_stacks(places);
        measure();
    }

    std::vector<PlanSharing> run(const PolicyRow& policy, std::uint64_t peak_reserved) const
    {
        const std::vector<Pair> pairs = candidates();
        std::vector<PlanSharing> rows(pairs.size());
        side_by_side(pairs.size(), [&](std::size_t at) {
            const auto [a, b] = pairs[at];
            rows[at] = {.first = stacks_[a].row,
                        .second = stacks_[b].row,
                        .bytes = room_for({a, b}),
                        .at_once = together_.at(pairs[at]).at_once};
            const std::uint64_t shared = reserved(policy, {{a, b}});
            // A buffer of its own may help a stack too: that is not sharing's.
            const std::uint64_t apart =
                std::min({peak_reserved, reserved(policy, {{a}}), reserved(policy, {{b}}),
                          reserved(policy, {{a}, {b}})});
            rows[at].saves_reserved = apart - std::min(apart, shared);
        });
        std::erase_if(rows, [](const PlanSharing& row) { return row.saves_reserved == 0; });
        std::stable_sort(rows.begin(), rows.end(), [](const PlanSharing& x, const PlanSharing& y) {
            return x.saves_reserved > y.saves_reserved;
        });
        return rows;
    }

private:
    using Buffer = std::vector<std::size_t>; // the stacks that share it

    // Sites that a reader takes for one place are one stack.
    void find_stacks(Places& places)
    {
        std::vector<std::pair<SiteId, SiteUse>> uses;
        for (const auto& [site, use] : uses_of(trace_)) {
            if (!use.unclear && use.most > 0)
                uses.emplace_back(site, use);
        }
        std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) {
            return std::tie(b.second.most, a.first) < std::tie(a.second.most, b.first);
        });
        uses.resize(std::min(uses.size(), kMostSites));
        std::map<std::string, std::uint8_t> numbers;
        std::unordered_map<SiteId, std::uint8_t> stack_of_site;
        for (const auto& [site, use] : uses) {
            Stack stack{.row = {}, .stream = use.stream};
            static_cast<CallPlace&>(stack.row) = places.of_site(site);
            stack.row.phase = places.phase_of(site);
            const auto [found, added] = numbers.try_emplace(
                std::to_string(use.stream) + '\0' + stack.row.phase + '\0' + stack.row.key(),
                static_cast<std::uint8_t>(stacks_.size()));
            if (added)
                stacks_.push_back(std::move(stack));
            stack_of_site.emplace(site, found->second);
        }
        for (std::size_t block = 0; block < stack_of_.size(); ++block) {
            if (const auto found = stack_of_site.find(trace_.sites[block]);
                found != stack_of_site.end())
                stack_of_[block] = found->second;
        }
    }

    std::uint8_t stack_of(const Request& request) const
    {
        const bool has_block = request.action == Action::allocate || gives_back(request.action);
        return has_block ? stack_of_[request.block] : kNone;
    }

    void measure()
    {
        for (std::size_t at = 0; at < trace_.requests.size(); ++at) {
            const Request& request = trace_.requests[at];
            if (const std::uint8_t number = stack_of(request); number != kNone) {
                Stack& stack = stacks_[number];
                if (request.action == Action::allocate) {
                    stack.live += request.bytes;
                    stack.row.bytes = std::max(stack.row.bytes, stack.live);
                    ++stack.row.blocks;
                    measure_with_others(number);
                } else {
                    stack.live -= std::min(stack.live, request.bytes);
                }
            }
            if (at == device_.facts.peak_request)
                for (Stack& stack : stacks_)
                    stack.at_peak = stack.live > 0;
        }
    }

    void measure_with_others(std::size_t number)
    {
        for (std::size_t other = 0; other < stacks_.size(); ++other) {
            if (other == number || stacks_[other].stream != stacks_[number].stream)
                continue;
            Together& both = together_[std::minmax(number, other)];
            both.most = std::max(both.most, stacks_[number].live + stacks_[other].live);
            both.at_once = both.at_once || stacks_[other].live > 0;
        }
    }

    // Those that would share most.
    std::vector<Pair> candidates() const
    {
        std::vector<std::pair<std::uint64_t, Pair>> found;
        for (const auto& [pair, both] : together_) {
            const Stack& a = stacks_[pair.first];
            const Stack& b = stacks_[pair.second];
            const std::uint64_t apart = a.row.bytes + b.row.bytes;
            if ((a.at_peak || b.at_peak) && both.most < apart)
                found.emplace_back(apart - both.most, pair);
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& x, const auto& y) { return x.first > y.first; });
        found.resize(std::min(found.size(), kMostPairs));
        std::vector<Pair> pairs;
        for (const auto& [bytes, pair] : found)
            pairs.push_back(pair);
        return pairs;
    }

    static bool has(const Buffer& buffer, std::size_t stack)
    {
        return std::find(buffer.begin(), buffer.end(), stack) != buffer.end();
    }

    // A placement of their blocks that was found: without a search, as one is needed for each pair.
    std::uint64_t room_for(const Buffer& buffer) const
    {
        Trace part;
        for (const Request& request : trace_.requests) {
            if (has(buffer, stack_of(request)))
                part.requests.push_back(request);
        }
        return pack(part, 0).upper;
    }

    // With the buffers in place of all blocks of their stacks, each from its first block's birth to
    // the moment at which the last is freed.
    std::uint64_t reserved(const PolicyRow& policy, const std::vector<Buffer>& buffers) const
    {
        struct Life {
            BlockId block = 0; // that the buffer stands for
            std::uint64_t bytes = 0;
            std::size_t alive = 0;
            std::size_t last = 0; // request
            bool begun = false;
        };
        std::vector<Life> lives;
        for (const Buffer& buffer : buffers)
            lives.push_back({.bytes = room_for(buffer)});
        const auto life_of = [&](const Request& request) -> Life* {
            const std::uint8_t stack = stack_of(request);
            for (std::size_t at = 0; at < buffers.size() && stack != kNone; ++at) {
                if (has(buffers[at], stack))
                    return &lives[at];
            }
            return nullptr;
        };
        const std::vector<Request>& requests = trace_.requests;
        for (std::size_t at = 0; at < requests.size(); ++at) {
            if (Life* const life = life_of(requests[at])) {
                life->alive += requests[at].action == Action::allocate ? 1 : std::size_t{0} - 1;
                life->last = at;
            }
        }
        Trace changed{.device = trace_.device,
                      .at_start = trace_.at_start,
                      .requests = {},
                      .sites = trace_.sites,
                      .base_bytes = trace_.base_bytes,
                      .device_bytes = trace_.device_bytes,
                      .unknown = {}};
        for (std::size_t at = 0; at < requests.size(); ++at) {
            Request request = requests[at];
            if (Life* const life = life_of(request)) {
                const bool begins = !std::exchange(life->begun, true);
                if (!begins && (life->alive > 0 || at != life->last))
                    continue;
                life->block = begins ? request.block : life->block;
                request.block = life->block;
                request.bytes = life->bytes;
            }
            changed.requests.push_back(request);
        }
        return replay(changed, policy).peak.reserved;
    }

    const TraceWatch::DeviceTrace& device_;
    const Trace& trace_;
    std::vector<std::uint8_t> stack_of_; // by BlockId
    std::vector<Stack> stacks_;
    std::map<Pair, Together> together_;
};

} // namespace

std::vector<PlanSharing> find_sharing(const TraceWatch::DeviceTrace& device,
                                      const PolicyRow& policy, std::uint64_t peak_reserved,
                                      Places& places)
{
    if (device.trace.requests.size() >= kSearchAllBelow)
        return {};
    return SharingSearch(device, places).run(policy, peak_reserved);
}

} // namespace vramscope::report::plan
