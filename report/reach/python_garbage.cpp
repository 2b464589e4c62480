// report/reach/python_garbage.cpp — who is above a block, and above itself.
#include "report/reach/python_garbage.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

constexpr std::size_t kMostAbove = 1'000; // of larger cycles nothing is said
constexpr std::size_t kMostNamed = 3;

} // namespace

GarbageOfPython::GarbageOfPython(const Holders& holders, const PythonMemory& python)
    : holders_(holders), python_(python), up_(holders.nodes().size()),
      references_(holders.nodes().size())
{
    for (NodeId id = 0; id < holders.nodes().size(); ++id) {
        const Node& node = holders.nodes()[id];
        const bool is_of_python = node.object != 0 || node.used.end != 0; // or a part of it
        for (const Link& link : node.down) {
            const bool is_object = holders.nodes()[link.to].object != 0;
            const bool counts = !Holders::is_left_over(node, link) && !node.used.is_hash(link.word);
            // Any other word that leads to an object may be left over: its references tell.
            if (!counts || (is_object && !(link.exact && is_of_python)))
                continue;
            up_[link.to].push_back(id);
            references_[link.to] += is_of_python;
        }
    }
}

// Empty: there are too many.
std::vector<NodeId> GarbageOfPython::all_above(NodeId block) const
{
    std::vector<NodeId> above;
    std::set<NodeId> known;
    const auto add = [&](NodeId node) {
        for (const NodeId holder : up_[node])
            if (known.insert(holder).second)
                above.push_back(holder);
    };
    add(block);
    for (std::size_t at = 0; at < above.size() && above.size() <= kMostAbove; ++at)
        add(above[at]);
    return above.size() <= kMostAbove ? above : std::vector<NodeId>();
}

bool GarbageOfPython::leads_to_itself(NodeId node) const
{
    const std::vector<NodeId> above = all_above(node);
    return std::find(above.begin(), above.end(), node) != above.end();
}

std::string GarbageOfPython::of(NodeId block) const
{
    std::set<std::string> names;
    for (const NodeId node : all_above(block)) {
        const Address object = holders_.nodes()[node].object;
        if (object == 0)
            continue;
        if (python_.references(object) != references_[node])
            return {};
        if (leads_to_itself(node))
            names.insert(python_.object_name(object));
    }
    if (names.empty())
        return {};
    std::vector<std::string> few(names.begin(), names.end());
    few.resize(std::min(few.size(), kMostNamed));
    return fmt::format("a cycle of {}{} that gc.collect() would free", fmt::join(few, ", "),
                       names.size() > few.size() ? ", ..." : "");
}

} // namespace vramscope::report
