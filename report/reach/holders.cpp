// report/reach/holders.cpp — ways through the graph of holders.
#include "report/reach/holders.hpp"

#include <algorithm>

namespace vramscope::report {

Holders::Holders(const std::vector<AddressSpan>& wanted) : wanted_(wanted.size())
{
    for (const AddressSpan& block : wanted)
        nodes_.push_back({block, RootKind::none, 0, {}});
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
    if (node.root == RootKind::none)
        blocks_[node.begin] = id;
    return id;
}

std::vector<Holders::Way> Holders::ways(const Proof& proof) const
{
    std::vector<Way> ways(nodes_.size());
    std::vector<NodeId> now;
    for (NodeId id = 0; id < nodes_.size(); ++id) {
        const RootKind root = nodes_[id].root;
        if (root != RootKind::none && (root != RootKind::unknown || proof.unknown)) {
            ways[id].from = id;
            now.push_back(id);
        }
    }
    std::stable_sort(now.begin(), now.end(),
                     [&](NodeId a, NodeId b) { return nodes_[a].root < nodes_[b].root; });
    for (std::size_t at = 0; at < now.size(); ++at)
        for (const Link& link : nodes_[now[at]].down) {
            const bool counts = link.exact || proof.interior || link.to >= wanted_;
            if (counts && ways[link.to].from == kNoNode) {
                ways[link.to] = {now[at], link};
                now.push_back(link.to);
            }
        }
    return ways;
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
