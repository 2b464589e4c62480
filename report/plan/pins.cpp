// report/plan/pins.cpp — segments and blocks of a replay, and what is worth the least to free.
#include "report/plan/pins.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace vramscope::report::plan {
namespace {

constexpr std::size_t kMostPins = 20;
constexpr std::uint64_t kGranule = 512; // what allocators round blocks up to

std::uint64_t granules(std::uint64_t bytes)
{
    return (bytes + kGranule - 1) / kGranule * kGranule;
}

// Follows what a policy takes and gives back, and looks at it after the requests that are wanted.
class Watcher {
public:
    Watcher(const Trace& trace, const std::vector<std::size_t>& requests)
        : trace_(trace), wanted_(requests)
    {
        for (const StartSegment& segment : trace.at_start) {
            segments_[segment.address] = segment.bytes;
            for (const StartBlock& block : segment.blocks)
                live_[block.block] = block.bytes;
        }
    }

    void note(bool taken, std::uint64_t address, std::uint64_t bytes)
    {
        if (taken)
            segments_[address] = bytes;
        else
            segments_.erase(address);
    }

    void look(std::size_t at, const Policy& policy, const Outcome& outcome)
    {
        const Request& request = trace_.requests[at];
        if (request.action == Action::allocate && outcome.shortages == shortages_)
            live_[request.block] = request.bytes;
        else if (request.action == Action::free || request.action == Action::free_later)
            live_.erase(request.block);
        shortages_ = outcome.shortages;
        for (; found.size() < wanted_.size() && wanted_[found.size()] == at;)
            found.push_back(segments(policy));
    }

    std::vector<std::vector<PlacedSegment>> found;

private:
    std::vector<PlacedSegment> segments(const Policy& policy) const
    {
        std::vector<PlacedSegment> segments;
        for (const auto& [address, bytes] : segments_)
            segments.push_back({address, bytes, {}});
        std::vector<PlacedBlock> blocks;
        for (const auto& [block, bytes] : live_)
            blocks.push_back({policy.address(block), bytes, block});
        std::sort(blocks.begin(), blocks.end(),
                  [](const PlacedBlock& a, const PlacedBlock& b) { return a.address < b.address; });
        for (const PlacedBlock& block : blocks) {
            auto at = std::upper_bound(segments.begin(), segments.end(), block.address,
                                       [](std::uint64_t address, const PlacedSegment& segment) {
                                           return address < segment.address;
                                       });
            at -= at != segments.begin();
            // A block may lie in several pieces of what a policy mapped.
            for (; at != segments.end() && at->address < block.address + block.bytes; ++at) {
                const std::uint64_t begin = std::max(at->address, block.address);
                const std::uint64_t end =
                    std::min(at->address + at->bytes, block.address + block.bytes);
                if (begin < end)
                    at->blocks.push_back({begin, end - begin, block.block});
            }
        }
        return segments;
    }

    const Trace& trace_;
    const std::vector<std::size_t>& wanted_;
    std::map<std::uint64_t, std::uint64_t> segments_; // address -> bytes
    std::unordered_map<BlockId, std::uint64_t> live_; // -> bytes
    std::uint64_t shortages_ = 0;
};

// Rows by what a reader sees.
class PinRows {
public:
    PinRows(const TraceWatch::DeviceTrace& device, Places& places)
        : device_(device), places_(places)
    {
    }

    PlanPin& of(BlockId block)
    {
        CallPlace place = places_.of_block(device_, block);
        const auto [found, added] = rows_.try_emplace(place.key());
        if (added)
            static_cast<CallPlace&>(found->second) = std::move(place);
        return found->second;
    }

    std::vector<PlanPin> take()
    {
        std::vector<PlanPin> rows;
        for (auto& [key, row] : rows_)
            rows.push_back(std::move(row));
        std::stable_sort(rows.begin(), rows.end(), [](const PlanPin& a, const PlanPin& b) {
            return std::pair(a.pinned, a.bytes) > std::pair(b.pinned, b.bytes);
        });
        rows.resize(std::min(rows.size(), kMostPins));
        return rows;
    }

private:
    const TraceWatch::DeviceTrace& device_;
    Places& places_;
    std::map<std::string, PlanPin> rows_;
};

struct Freeing {
    std::uint64_t bytes = UINT64_MAX; // sum over the blocks
    std::vector<BlockId> blocks;
};

// Neighbours of one segment between which, once they are gone, so many bytes are free.
Freeing cheapest_gap(const PlacedSegment& segment, std::uint64_t wanted)
{
    Freeing best;
    const std::vector<PlacedBlock>& blocks = segment.blocks;
    const auto end_of = [](const PlacedBlock& block) {
        return block.address + granules(block.bytes);
    };
    std::size_t first = 0;
    std::uint64_t cost = 0;
    for (std::size_t last = 0; last < blocks.size(); ++last) {
        cost += blocks[last].bytes;
        const std::uint64_t end =
            last + 1 < blocks.size() ? blocks[last + 1].address : segment.address + segment.bytes;
        for (; first <= last; ++first) { // as few as are enough
            const std::uint64_t begin = first > 0 ? end_of(blocks[first - 1]) : segment.address;
            if (end < begin || end - begin < wanted)
                break;
            if (cost < best.bytes) {
                best.bytes = cost;
                best.blocks.clear();
                for (std::size_t at = first; at <= last; ++at)
                    best.blocks.push_back(blocks[at].block);
            }
            cost -= blocks[first].bytes;
        }
    }
    return best;
}

// Segments that go back whole, those first of which the blocks are the smallest part.
Freeing cheapest_segments(const std::vector<PlacedSegment>& segments, std::uint64_t wanted,
                          std::uint64_t left)
{
    std::vector<std::pair<double, const PlacedSegment*>> order;
    for (const PlacedSegment& segment : segments) {
        if (!segment.blocks.empty())
            order.emplace_back(static_cast<double>(segment.free_bytes()) /
                                   static_cast<double>(segment.bytes),
                               &segment);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Freeing freeing{.bytes = 0, .blocks = {}};
    for (const auto& [part, segment] : order) {
        if (left >= wanted)
            break;
        left += segment->bytes;
        for (const PlacedBlock& block : segment->blocks) {
            freeing.bytes += block.bytes;
            freeing.blocks.push_back(block.block);
        }
    }
    return left >= wanted ? freeing : Freeing{};
}

} // namespace

std::uint64_t PlacedSegment::free_bytes() const noexcept
{
    std::uint64_t used = 0;
    for (const PlacedBlock& block : blocks)
        used += granules(block.bytes);
    return bytes - std::min(bytes, used);
}

std::vector<std::vector<PlacedSegment>> segments_at(const Trace& trace, const PolicyRow& row,
                                                    const std::vector<std::size_t>& requests,
                                                    std::uint64_t capacity)
{
    const bool limited = capacity != CountedDevice::kNoLimit;
    const std::uint64_t others = limited ? std::min(trace.base_bytes, capacity) : 0;
    CountedDevice device(capacity - others, capacity);
    const std::unique_ptr<Policy> policy = row.make(device);
    Watcher watcher(trace, requests);
    device.on_call = [&](bool taken, std::uint64_t address, std::uint64_t bytes) {
        watcher.note(taken, address, bytes);
    };
    replay(trace, *policy, device, limited,
           [&](std::size_t at, const Policy& now, const CountedDevice&, const Outcome& outcome) {
               watcher.look(at, now, outcome);
           });
    watcher.found.resize(requests.size());
    return std::move(watcher.found);
}

std::vector<PlanPin> find_pins(const std::vector<PlacedSegment>& segments,
                               const TraceWatch::DeviceTrace& device, std::size_t request,
                               Places& places)
{
    std::unordered_map<BlockId, std::size_t> freed; // index of the request; none: never
    for (const PlacedSegment& segment : segments) {
        for (const PlacedBlock& block : segment.blocks)
            freed[block.block] = SIZE_MAX;
    }
    const std::vector<Request>& requests = device.trace.requests;
    for (std::size_t at = request; at < requests.size(); ++at) {
        if (requests[at].action != Action::free && requests[at].action != Action::free_later)
            continue;
        if (const auto found = freed.find(requests[at].block); found != freed.end())
            found->second = at;
    }
    PinRows rows(device, places);
    for (const PlacedSegment& segment : segments) {
        if (segment.blocks.empty() || segment.free_bytes() == 0)
            continue;
        const PlacedBlock& last = *std::max_element(
            segment.blocks.begin(), segment.blocks.end(),
            [&](const PlacedBlock& a, const PlacedBlock& b) {
                return std::pair(freed[a.block], b.block) < std::pair(freed[b.block], a.block);
            });
        PlanPin& row = rows.of(last.block);
        row.pinned += segment.free_bytes();
        row.bytes += last.bytes;
        ++row.blocks;
        ++row.segments;
    }
    return rows.take();
}

std::vector<PlanPin> room_for(std::uint64_t bytes, std::uint64_t left,
                              const std::vector<PlacedSegment>& segments,
                              const TraceWatch::DeviceTrace& device, Places& places)
{
    const std::uint64_t wanted = granules(bytes);
    Freeing best = cheapest_segments(segments, wanted, left);
    for (const PlacedSegment& segment : segments) {
        if (segment.bytes < wanted)
            continue;
        if (Freeing gap = cheapest_gap(segment, wanted); gap.bytes < best.bytes)
            best = std::move(gap);
    }
    PinRows rows(device, places);
    std::unordered_map<BlockId, std::uint64_t> sizes;
    for (const PlacedSegment& segment : segments) {
        for (const PlacedBlock& block : segment.blocks)
            sizes[block.block] += block.bytes;
    }
    std::sort(best.blocks.begin(), best.blocks.end());
    best.blocks.erase(std::unique(best.blocks.begin(), best.blocks.end()), best.blocks.end());
    for (const BlockId block : best.blocks) {
        PlanPin& row = rows.of(block);
        row.bytes += sizes[block];
        ++row.blocks;
    }
    return rows.take();
}

} // namespace vramscope::report::plan
