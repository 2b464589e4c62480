// report/reach/holders.cpp — ways through the graph of holders.
#include "report/reach/holders.hpp"

#include <algorithm>
#include <climits>
#include <functional>
#include <queue>
#include <tuple>

namespace vramscope::report {
namespace {

// An object of Python's owns others and its parts, and foreign ones hold anything. Any other word
// may be left over: in a room that is larger than what is in it, or that was freed.
bool is_sure(const Node& holder, const Link& link)
{
    return link.owns || holder.is_foreign;
}

} // namespace

Holders::Holders(const std::vector<AddressSpan>& wanted) : wanted_(wanted.size())
{
    for (const AddressSpan& block : wanted)
        nodes_.push_back({block, RootKind::none, 0, 0, {}, {}});
}

std::optional<NodeId> Holders::known_block(Address begin) const
{
    const auto known = blocks_.find(begin);
    return known == blocks_.end() ? std::nullopt : std::optional(known->second);
}

NodeId Holders::add(const Node& node)
{
    const NodeId id = static_cast<NodeId>(nodes_.size());
    nodes_.push_back(node);
    if (node.root == RootKind::none || node.object != 0)
        blocks_[node.begin] = id;
    has_objects_ = has_objects_ || node.object != 0;
    return id;
}

bool Holders::is_left_over(const Node& node, const Link& link)
{
    return node.used.is_left_over(link.word);
}

bool Holders::is_of_unknown_type(const Node& node)
{
    return node.root == RootKind::none && node.object == 0 && node.used.end == 0;
}

bool Holders::counts(const Node& holder, const Link& link, const Proof& proof) const
{
    const Node& held = nodes_[link.to];
    return (link.exact || proof.interior || link.to >= wanted_) &&
           (proof.left_over || !is_left_over(holder, link)) && !holder.used.is_hash(link.word) &&
           (proof.by_type == ByType::none || is_of_unknown_type(held) ||
            (link.owns && (holder.is_foreign || !is_of_unknown_type(holder)))) &&
           (proof.by_type < ByType::surely || is_sure(holder, link));
}

unsigned Holders::cost_of_root(const Node& node) const
{
    constexpr unsigned kTemporary = 80;
    constexpr unsigned kNotOfPython = 110;
    const bool of_python =
        node.root == RootKind::python_module || node.root == RootKind::python_local;
    const unsigned cost = node.root == RootKind::python_temporary ? kTemporary : kNotOfPython;
    return has_objects_ && !of_python ? cost : 0;
}

unsigned Holders::cost_of_step(const Node& holder, const Link& link) const
{
    constexpr unsigned kLeftOverPerhaps = 16;
    return has_objects_ && !is_sure(holder, link) ? kLeftOverPerhaps : 1;
}

std::vector<Holders::Way> Holders::ways(const Proof& proof) const
{
    std::vector<Way> ways(nodes_.size());
    std::vector<unsigned> costs(nodes_.size(), UINT_MAX);
    using Next = std::tuple<unsigned, std::size_t, NodeId>; // of equal costs those that came first
    std::priority_queue<Next, std::vector<Next>, std::greater<>> now;
    std::vector<NodeId> roots;
    for (NodeId id = 0; id < nodes_.size(); ++id) {
        const RootKind root = nodes_[id].root;
        const bool typed = root == RootKind::python_module || root == RootKind::python_local;
        if (root != RootKind::none && (root != RootKind::unknown || proof.unknown) &&
            (typed || proof.by_type < ByType::all))
            roots.push_back(id);
    }
    std::stable_sort(roots.begin(), roots.end(),
                     [&](NodeId a, NodeId b) { return nodes_[a].root < nodes_[b].root; });
    std::size_t count = 0;
    for (const NodeId root : roots) {
        ways[root].from = root;
        costs[root] = cost_of_root(nodes_[root]);
        now.push({costs[root], ++count, root});
    }
    while (!now.empty()) {
        const auto [cost, number, node] = now.top();
        now.pop();
        if (cost > costs[node])
            continue;
        for (const Link& link : nodes_[node].down) {
            const unsigned next = cost + cost_of_step(nodes_[node], link);
            if (counts(nodes_[node], link, proof) && next < costs[link.to]) {
                costs[link.to] = next;
                ways[link.to] = {node, link};
                now.push({next, ++count, link.to});
            }
        }
    }
    return ways;
}

bool Holders::all_have(const std::vector<Way>& ways) const
{
    const auto end = ways.begin() + static_cast<std::ptrdiff_t>(wanted_);
    return std::none_of(ways.begin(), end, [](const Way& way) { return way.from == kNoNode; });
}

std::vector<char> Holders::lead_to_unproven(const std::vector<Way>& ways) const
{
    std::vector<std::vector<NodeId>> up(nodes_.size());
    for (NodeId id = 0; id < nodes_.size(); ++id)
        for (const Link& link : nodes_[id].down)
            up[link.to].push_back(id);
    std::vector<char> leads(nodes_.size(), 0);
    std::vector<NodeId> now;
    for (NodeId id = 0; id < wanted_; ++id)
        if (ways[id].from == kNoNode) {
            leads[id] = 1;
            now.push_back(id);
        }
    while (!now.empty()) {
        const NodeId node = now.back();
        now.pop_back();
        for (const NodeId holder : up[node])
            if (!leads[holder]) {
                leads[holder] = 1;
                now.push_back(holder);
            }
    }
    return leads;
}

} // namespace vramscope::report
