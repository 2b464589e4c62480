// report/reach/verdicts.cpp — the surest way to each block, in words.
#include "report/reach/verdicts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostUnheld = 3;

// The last step, which was the last of those that are the same, is told as this.
void rename_last(HolderSteps& steps, std::string text)
{
    HolderStep& last = steps.back();
    if (last.most_times == 1) {
        steps.pop_back();
    } else {
        --last.least_times;
        --last.most_times;
    }
    add_step(steps, std::move(text));
}

} // namespace

Verdicts::Verdicts(const ProcessMemory& memory, const MemoryMap& map, const ModuleNames& modules,
                   const PythonMemory* python, const HolderSearch& search)
    : memory_(memory), map_(map), modules_(modules), python_(python), search_(search)
{
    const Holders& holders = search.holders();
    for (const Step& step : kSteps)
        ways_.push_back({holders.ways(step.proof), {}});
    if (python)
        garbage_ = std::make_unique<GarbageOfPython>(holders, *python);
    pointing_.resize(holders.wanted());
    for (NodeId id = 0; id < holders.nodes().size(); ++id)
        for (const Link& link : holders.nodes()[id].down)
            if (link.to < holders.wanted() && holders.nodes()[id].root == RootKind::none &&
                pointing_[link.to].size() < kMostUnheld)
                pointing_[link.to].push_back(id);
}

BlockVerdict Verdicts::of(std::size_t wanted)
{
    const NodeId block = static_cast<NodeId>(wanted);
    BlockVerdict said;
    for (std::size_t at = 0; at < kSteps.size(); ++at)
        if (ways_[at].ways[block].from != kNoNode) {
            said.verdict = kSteps[at].verdict;
            said.doubt = kSteps[at].doubt;
            said.chain = chain(block, ways_[at]);
            tell_garbage(said, block);
            return said;
        }
    said.chain = unheld_blocks(block);
    said.verdict = Reached::possibly;
    if (search_.left_open_above(block) || search_.has_unread_host())
        said.doubt = ReachDoubt::open;
    else if (!memory_.stopped())
        said.doubt = ReachDoubt::registers;
    else
        said.verdict = Reached::lost;
    tell_garbage(said, block);
    return said;
}

// Which tells more than what has a word of it that may be left over.
void Verdicts::tell_garbage(BlockVerdict& said, NodeId block) const
{
    if (!garbage_ || (said.verdict != Reached::lost && said.doubt != ReachDoubt::shape))
        return;
    if (std::string cycle = garbage_->of(block); !cycle.empty())
        said.chain = {{std::move(cycle)}};
}

// From the root down. Along a list each element's chain is that of the one before and a step more:
// so those of what holds blocks are kept, and some of a long way between.
HolderSteps Verdicts::chain(NodeId held, KnownWays& known) const
{
    constexpr std::size_t kKeptEach = 8;
    std::vector<NodeId> untold;
    NodeId at = held;
    for (; known.ways[at].from != at && !known.chains.contains(at); at = known.ways[at].from)
        untold.push_back(at);
    const auto above = known.chains.find(at);
    HolderSteps steps = above != known.chains.end() ? above->second : HolderSteps(); // a root's
    for (; !untold.empty(); untold.pop_back()) {
        add_link(steps, untold.back(), known.ways);
        if (untold.size() == 2 || untold.size() % kKeptEach == 0)
            known.chains[untold.back()] = steps;
    }
    return steps;
}

std::optional<Verdicts::ChainLink> Verdicts::link_to(NodeId held,
                                                     const std::vector<Holders::Way>& ways) const
{
    const Holders::Way& way = ways[held];
    if (way.from == held)
        return std::nullopt; // it is a root
    return ChainLink{&search_.holders().nodes()[way.from], way.link.word, way.from};
}

// A block that is a part of the object before it is no step of its own: keys of a dict, items of a
// list, attributes.
void Verdicts::add_link(HolderSteps& steps, NodeId held,
                        const std::vector<Holders::Way>& ways) const
{
    const ChainLink link = *link_to(held, ways);
    const std::optional<ChainLink> before = link_to(link.id, ways);
    const Node& node = *link.node;
    if (node.object != 0) {
        if (!before || !is_attributes(*before, link))
            add_step(steps, node.root == RootKind::none
                                ? python_->object_name(node.object) +
                                      python_->attribute_name(node.object, link.word)
                                : root_name(node, link.word));
        return;
    }
    if (node.root != RootKind::none)
        return add_step(steps, root_name(node, link.word));
    const Node* const owner = before && before->node->object != 0 ? before->node : nullptr;
    if (!owner)
        return add_step(steps, block_name(node));
    const std::string key = python_->variable_name(node, link.word);
    const std::string* const module = python_->module_of(owner->object);
    const auto part = python_->part_name(owner->object, node, link.word);
    const std::optional<ChainLink> first = link_to(before->id, ways);
    if (module && !key.empty())
        rename_last(steps, fmt::format("variable `{}` of module `{}`", key, *module));
    else if (!part)
        add_step(steps, block_name(node));
    else if (part->empty() && !key.empty() && first && is_attributes(*first, *before))
        rename_last(steps, steps.back().text + "." + key);
    else
        rename_last(steps, steps.back().text + *part);
}

// The dict of an object's attributes, which is told by the object and the attribute.
bool Verdicts::is_attributes(const ChainLink& object, const ChainLink& dict) const
{
    return object.node->object != 0 && dict.node->object != 0 &&
           python_->is_attributes(object.node->object, object.word, dict.node->object);
}

HolderSteps Verdicts::unheld_blocks(NodeId block) const
{
    std::vector<std::string> names;
    for (const NodeId holder : pointing_[block])
        names.push_back(block_name(search_.holders().nodes()[holder]));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    HolderSteps steps;
    for (std::string& name : names)
        add_step(steps, std::move(name));
    return steps;
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
    case RootKind::python_module:
        return fmt::format("module `{}`", *python_->module_of(root.object));
    case RootKind::python_local:
    case RootKind::python_temporary:
        return python_->local_name(word);
    case RootKind::unknown:
        return python_ && python_->is_runtime(word) ? "the interpreter's own variables"
                                                    : "memory of unknown shape";
    default:
        return "memory that the program mapped";
    }
}

std::string Verdicts::block_name(const Node& block) const
{
    if (&block < search_.holders().nodes().data() + search_.holders().wanted())
        return fmt::format("pinned memory of {}", human_bytes(block.end - block.begin));
    if (block.object != 0)
        return python_->object_name(block.object);
    const std::string type = modules_.class_of(memory_.word(block.begin));
    return type.empty() ? fmt::format("a heap block of {}", human_bytes(block.end - block.begin))
                        : fmt::format("an object of {}", type);
}

} // namespace vramscope::report
