// report/plan/packing.cpp — greedy placements, and a search in the orders of the blocks.
#include "report/plan/packing.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kUnit = 512; // bytes: addresses are multiples of it

std::uint64_t most_alive(const std::vector<Lifetime>& blocks)
{
    std::vector<std::tuple<std::uint64_t, bool, std::uint64_t>> changes; // frees come first
    for (const Lifetime& block : blocks) {
        changes.emplace_back(block.begin, true, block.bytes);
        changes.emplace_back(block.end, false, block.bytes);
    }
    std::sort(changes.begin(), changes.end());
    std::uint64_t alive = 0;
    std::uint64_t most = 0;
    for (const auto& [time, begins, bytes] : changes)
        most = std::max(most, alive += begins ? bytes : 0 - bytes);
    return most;
}

using Order = std::vector<std::size_t>;

class Placer {
public:
    explicit Placer(const std::vector<Lifetime>& blocks)
        : blocks_(blocks), overlapping_(blocks.size()), offsets_(blocks.size()),
          placed_(blocks.size())
    {
        for (std::size_t a = 0; a < blocks.size(); ++a) {
            for (std::size_t b = 0; b < blocks.size(); ++b) {
                if (a != b && blocks[a].begin < blocks[b].end && blocks[b].begin < blocks[a].end)
                    overlapping_[a].push_back(b);
            }
        }
    }

    // What the blocks need, in this order; more than `bound` is not looked at closely.
    std::uint64_t place(const Order& order, bool tightest, std::uint64_t bound)
    {
        std::fill(placed_.begin(), placed_.end(), false);
        std::uint64_t height = 0;
        for (const std::size_t block : order) {
            offsets_[block] = gap_for(block, tightest);
            placed_[block] = true;
            height = std::max(height, offsets_[block] + blocks_[block].bytes);
            if (height > bound)
                break;
        }
        return height;
    }

    const std::vector<std::uint64_t>& offsets() const noexcept { return offsets_; }

private:
    std::uint64_t gap_for(std::size_t block, bool tightest)
    {
        taken_.clear();
        for (const std::size_t other : overlapping_[block]) {
            if (placed_[other])
                taken_.emplace_back(offsets_[other], offsets_[other] + blocks_[other].bytes);
        }
        std::sort(taken_.begin(), taken_.end());
        const std::uint64_t wanted = blocks_[block].bytes;
        std::uint64_t end = 0; // where what is taken so far ends
        std::uint64_t best = UINT64_MAX;
        std::uint64_t best_gap = UINT64_MAX;
        for (const auto& [from, to] : taken_) {
            if (from > end && from - end >= wanted && from - end < best_gap) {
                best = end;
                best_gap = from - end;
                if (!tightest)
                    return best;
            }
            end = std::max(end, to);
        }
        return best == UINT64_MAX ? end : best;
    }

    const std::vector<Lifetime>& blocks_;
    std::vector<std::vector<std::size_t>> overlapping_;
    std::vector<std::uint64_t> offsets_;
    std::vector<bool> placed_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken_;
};

using Rank = double (*)(const Lifetime& block);
struct NamedOrder {
    const char* name;
    Rank rank; // the largest first
};

double life(const Lifetime& block)
{
    return static_cast<double>(block.end - block.begin);
}
double size(const Lifetime& block)
{
    return static_cast<double>(block.bytes);
}
constexpr std::array kOrders{
    NamedOrder{"by size", size},
    NamedOrder{"by area", [](const Lifetime& block) { return size(block) * life(block); }},
    NamedOrder{"by lifetime", life},
    NamedOrder{"by birth", [](const Lifetime& block) { return -static_cast<double>(block.begin); }},
};

// A greedy order, and what became of it.
struct Placement {
    std::string method;
    Order order;
    bool tightest = true;
    std::uint64_t height = UINT64_MAX;
    std::vector<std::uint64_t> offsets;
};

class PackingSearch {
public:
    explicit PackingSearch(const std::vector<Lifetime>& blocks) : blocks_(blocks), placer_(blocks)
    {
    }

    // A part of the steps goes to each order, the rest to the one that is best then.
    Packing run(std::size_t steps)
    {
        const std::uint64_t lower = most_alive(blocks_);
        std::vector<Placement> found;
        for (const NamedOrder& named : kOrders) {
            for (const bool tightest : {true, false})
                found.push_back(greedy(named, tightest));
        }
        const std::size_t share = steps / (2 * found.size());
        for (Placement& placement : found)
            improve(placement, share, lower);
        Placement& best = *std::min_element(
            found.begin(), found.end(),
            [](const Placement& a, const Placement& b) { return a.height < b.height; });
        improve(best, steps - share * found.size(), lower);
        return {lower, best.height, std::move(best.method), std::move(best.offsets)};
    }

private:
    Placement greedy(const NamedOrder& named, bool tightest)
    {
        Placement placement{.method = named.name, .order = {}, .tightest = tightest, .offsets = {}};
        placement.order.resize(blocks_.size());
        std::iota(placement.order.begin(), placement.order.end(), std::size_t{0});
        std::stable_sort(placement.order.begin(), placement.order.end(),
                         [&](std::size_t a, std::size_t b) {
                             return named.rank(blocks_[a]) > named.rank(blocks_[b]);
                         });
        placement.height = placer_.place(placement.order, tightest, UINT64_MAX);
        placement.offsets = placer_.offsets();
        return placement;
    }

    void improve(Placement& placement, std::size_t steps, std::uint64_t lower)
    {
        const std::uint64_t before = placement.height;
        for (std::size_t step = 0; step < steps && placement.height > lower; ++step) {
            Order order = changed(placement);
            const std::uint64_t height = placer_.place(order, placement.tightest, placement.height);
            if (height > placement.height)
                continue;
            placement.order = std::move(order);
            placement.height = height;
            placement.offsets = placer_.offsets();
        }
        if (placement.height < before && !placement.method.ends_with("improved"))
            placement.method += ", then improved";
    }

    // A block, mostly one of those that reach the top, comes before others.
    Order changed(const Placement& placement)
    {
        Order order = placement.order;
        std::size_t from = random_() % order.size();
        for (std::size_t tries = 0; random_() % 4 != 0 && tries < order.size(); ++tries) {
            const std::size_t at = (from + tries) % order.size();
            const std::size_t block = order[at];
            if (placement.offsets[block] + blocks_[block].bytes == placement.height) {
                from = at;
                break;
            }
        }
        const std::size_t to = random_() % (from == 0 ? order.size() : from);
        const std::size_t block = order[from];
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), block);
        return order;
    }

    const std::vector<Lifetime>& blocks_;
    Placer placer_;
    std::mt19937_64 random_{1}; // equal input, equal answer
};

std::vector<Lifetime> lifetimes_of(const Trace& trace)
{
    std::vector<Lifetime> blocks;
    std::unordered_map<BlockId, std::size_t> alive; // -> index of blocks
    const std::uint64_t end = trace.requests.size();
    const auto begin = [&](BlockId block, std::uint64_t at, std::uint64_t bytes) {
        alive[block] = blocks.size();
        blocks.push_back({at, end, (bytes + kUnit - 1) / kUnit * kUnit});
    };
    for (const StartSegment& segment : trace.at_start) {
        for (const StartBlock& block : segment.blocks)
            begin(block.block, 0, block.bytes);
    }
    for (std::size_t at = 0; at < trace.requests.size(); ++at) {
        const Request& request = trace.requests[at];
        if (request.action == Action::allocate && request.bytes > 0) {
            begin(request.block, at, request.bytes);
        } else if (gives_back(request.action)) {
            if (const auto found = alive.find(request.block); found != alive.end()) {
                blocks[found->second].end = at;
                alive.erase(found);
            }
        }
    }
    return blocks;
}

// As they come, each in the smallest hole of one range.
std::uint64_t best_fit(const std::vector<Lifetime>& blocks) // by their births
{
    std::map<std::uint64_t, std::uint64_t> holes;            // offset -> bytes
    std::set<std::pair<std::uint64_t, std::uint64_t>> sizes; // bytes, offset
    std::multimap<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> ends;
    std::uint64_t top = 0;
    const auto add_hole = [&](std::uint64_t offset, std::uint64_t bytes) {
        const auto next = holes.lower_bound(offset);
        if (next != holes.end() && next->first == offset + bytes) {
            bytes += next->second;
            sizes.erase({next->second, next->first});
            holes.erase(next);
        }
        const auto behind = holes.lower_bound(offset);
        if (behind != holes.begin()) {
            const auto before = std::prev(behind);
            if (before->first + before->second == offset) {
                offset = before->first;
                bytes += before->second;
                sizes.erase({before->second, before->first});
                holes.erase(before);
            }
        }
        holes[offset] = bytes;
        sizes.emplace(bytes, offset);
    };
    for (const Lifetime& block : blocks) {
        for (; !ends.empty() && ends.begin()->first <= block.begin; ends.erase(ends.begin()))
            add_hole(ends.begin()->second.first, ends.begin()->second.second);
        std::uint64_t offset = top;
        if (const auto fit = sizes.lower_bound({block.bytes, 0}); fit != sizes.end()) {
            const auto [bytes, at] = *fit;
            offset = at;
            sizes.erase(fit);
            holes.erase(at);
            if (bytes > block.bytes)
                add_hole(at + block.bytes, bytes - block.bytes);
        } else {
            top += block.bytes;
        }
        ends.emplace(block.end, std::pair(offset, block.bytes));
    }
    return top;
}

} // namespace

Packing pack(const std::vector<Lifetime>& blocks, std::size_t steps)
{
    if (blocks.empty())
        return {};
    return PackingSearch(blocks).run(steps);
}

Packing pack(const Trace& trace, std::size_t work)
{
    std::vector<Lifetime> blocks = lifetimes_of(trace);
    std::vector<Lifetime> small;
    const std::uint64_t lower = most_alive(blocks);
    const std::uint64_t as_they_come = best_fit(blocks);
    if (blocks.size() > kMostPacked) {
        std::vector<std::uint64_t> sizes;
        for (const Lifetime& block : blocks)
            sizes.push_back(block.bytes);
        std::nth_element(sizes.begin(), sizes.begin() + kMostPacked, sizes.end(), std::greater<>());
        const std::uint64_t least = sizes[kMostPacked];
        const auto is_large = [&](const Lifetime& block) { return block.bytes > least; };
        std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(small),
                     std::not_fn(is_large));
        blocks.erase(std::remove_if(blocks.begin(), blocks.end(), std::not_fn(is_large)),
                     blocks.end());
    }
    Packing packing =
        pack(blocks, std::min<std::size_t>(5000, work / (blocks.size() * blocks.size() + 1)));
    packing.lower = lower;
    packing.upper += best_fit(small);
    packing.offsets.clear();
    if (as_they_come <= packing.upper) {
        packing.upper = as_they_come;
        packing.method = "as they come, each in the smallest hole";
    }
    return packing;
}

} // namespace vramscope::report::plan
