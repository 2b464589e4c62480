// report/reach/verdicts.cpp — the surest way to each block, in words.
#include "report/reach/verdicts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostUnheld = 3;

// The same step again and again, as along a list, is told once.
void add_step(std::vector<std::string>& chain, std::string& last, std::size_t& times,
              const std::string& step)
{
    if (!chain.empty() && step == last) {
        ++times;
        chain.back() = fmt::format("{}, {} times", step, grouped(times));
        return;
    }
    last = step;
    times = 1;
    chain.push_back(step);
}

} // namespace

Verdicts::Verdicts(const ProcessMemory& memory, const MemoryMap& map, const ModuleNames& modules,
                   const HolderSearch& search)
    : memory_(memory), map_(map), modules_(modules), search_(search)
{
    const Holders& holders = search.holders();
    for (const Step& step : kSteps)
        ways_.push_back(holders.ways(step.proof));
    pointing_.resize(holders.wanted());
    for (NodeId id = 0; id < holders.nodes().size(); ++id)
        for (const Link& link : holders.nodes()[id].down)
            if (link.to < holders.wanted() && holders.nodes()[id].root == RootKind::none &&
                pointing_[link.to].size() < kMostUnheld)
                pointing_[link.to].push_back(id);
}

ReachGroup Verdicts::of(std::size_t wanted) const
{
    const NodeId block = static_cast<NodeId>(wanted);
    ReachGroup group;
    for (std::size_t at = 0; at < kSteps.size(); ++at)
        if (ways_[at][block].from != kNoNode) {
            group.verdict = kSteps[at].verdict;
            group.doubt = kSteps[at].doubt;
            group.chain = chain(block, ways_[at]);
            return group;
        }
    group.chain = unheld_blocks(block);
    group.verdict = Reached::possibly;
    if (search_.left_open())
        group.doubt = ReachDoubt::open;
    else if (!memory_.stopped())
        group.doubt = ReachDoubt::registers;
    else
        group.verdict = Reached::lost;
    return group;
}

std::vector<std::string> Verdicts::chain(NodeId block, const std::vector<Holders::Way>& ways) const
{
    const std::vector<Node>& nodes = search_.holders().nodes();
    std::vector<NodeId> up; // the block's holder first
    for (NodeId at = block; ways[at].from != at; at = ways[at].from)
        up.push_back(ways[at].from);
    std::vector<std::string> chain;
    std::string last;
    std::size_t times = 0;
    for (std::size_t at = up.size(); at-- > 0;) {
        const Node& node = nodes[up[at]];
        const Address word = ways[at == 0 ? block : up[at - 1]].link.word;
        add_step(chain, last, times,
                 node.root == RootKind::none ? block_name(node) : root_name(node, word));
    }
    return chain;
}

std::vector<std::string> Verdicts::unheld_blocks(NodeId block) const
{
    std::vector<std::string> names;
    for (const NodeId holder : pointing_[block])
        names.push_back(block_name(search_.holders().nodes()[holder]));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string Verdicts::root_name(const Node& root, Address word) const
{
    const auto thread = [&] {
        return fmt::format("thread {}", memory_.threads()[root.thread].tid);
    };
    switch (root.root) {
    case RootKind::variable:
        return "variable " +
               modules_.variable_at(word, memory_.mappings()[map_.find(word)->mapping].name);
    case RootKind::thread_local_:
        return "a thread-local of " + thread();
    case RootKind::stack:
        return "the stack of " + thread();
    case RootKind::register_:
        return "register " + register_name(word) + " of " + thread();
    case RootKind::unknown:
        return "memory of unknown shape";
    default:
        return "memory that the program mapped";
    }
}

std::string Verdicts::block_name(const Node& block) const
{
    if (&block < search_.holders().nodes().data() + search_.holders().wanted())
        return fmt::format("pinned memory of {}", human_bytes(block.end - block.begin));
    const std::string type = modules_.class_of(memory_.word(block.begin));
    return type.empty() ? fmt::format("a heap block of {}", human_bytes(block.end - block.begin))
                        : fmt::format("an object of {}", type);
}

} // namespace vramscope::report
