// report/reach/verdicts.cpp — the surest way to each block, in words.
#include "report/reach/verdicts.hpp"

#include <algorithm>
#include <utility>

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
                   const PythonMemory* python, const HolderSearch& search)
    : memory_(memory), map_(map), modules_(modules), python_(python), search_(search)
{
    const Holders& holders = search.holders();
    for (const Step& step : kSteps)
        ways_.push_back(holders.ways(step.proof));
    if (python)
        garbage_ = std::make_unique<GarbageOfPython>(holders, *python);
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
            tell_garbage(group, block);
            return group;
        }
    group.chain = unheld_blocks(block);
    group.verdict = Reached::possibly;
    if (search_.left_open_above(block) || search_.has_unread_host())
        group.doubt = ReachDoubt::open;
    else if (!memory_.stopped())
        group.doubt = ReachDoubt::registers;
    else
        group.verdict = Reached::lost;
    tell_garbage(group, block);
    return group;
}

// Which tells more than what has a word of it that may be left over.
void Verdicts::tell_garbage(ReachGroup& group, NodeId block) const
{
    if (!garbage_ || (group.verdict != Reached::lost && group.doubt != ReachDoubt::shape))
        return;
    if (std::string cycle = garbage_->of(block); !cycle.empty())
        group.chain = {std::move(cycle)};
}

std::vector<std::string> Verdicts::chain(NodeId block, const std::vector<Holders::Way>& ways) const
{
    const std::vector<Node>& nodes = search_.holders().nodes();
    std::vector<ChainLink> links; // the root first
    for (NodeId at = block; ways[at].from != at; at = ways[at].from)
        links.push_back({&nodes[ways[at].from], ways[at].link.word});
    std::reverse(links.begin(), links.end());
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < links.size(); ++at)
        add_link(texts, links, at);
    std::vector<std::string> chain;
    std::string last;
    std::size_t times = 0;
    for (const std::string& text : texts)
        add_step(chain, last, times, text);
    return chain;
}

// A block that is a part of the object before it is no step of its own: keys of a dict, items of a
// list, attributes.
void Verdicts::add_link(std::vector<std::string>& texts, const std::vector<ChainLink>& links,
                        std::size_t at) const
{
    const Node& node = *links[at].node;
    const Node* const owner =
        at > 0 && links[at - 1].node->object != 0 ? links[at - 1].node : nullptr;
    if (node.object != 0) {
        if (!is_attributes(links, at))
            texts.push_back(node.root == RootKind::none
                                ? python_->object_name(node.object) +
                                      python_->attribute_name(node.object, links[at].word)
                                : root_name(node, links[at].word));
        return;
    }
    if (node.root != RootKind::none)
        return texts.push_back(root_name(node, links[at].word));
    if (!owner)
        return texts.push_back(block_name(node));
    const std::string key = python_->variable_name(node, links[at].word);
    const std::string* const module = python_->module_of(owner->object);
    const auto part = python_->part_name(owner->object, node, links[at].word);
    if (module && !key.empty())
        texts.back() = fmt::format("variable `{}` of module `{}`", key, *module);
    else if (!part)
        texts.push_back(block_name(node));
    else if (part->empty() && !key.empty() && is_attributes(links, at - 1))
        texts.back() += "." + key;
    else
        texts.back() += *part;
}

// The dict of an object's attributes, which is told by the object and the attribute.
bool Verdicts::is_attributes(const std::vector<ChainLink>& links, std::size_t at) const
{
    return at > 0 && links[at].node->object != 0 && links[at - 1].node->object != 0 &&
           python_->is_attributes(links[at - 1].node->object, links[at - 1].word,
                                  links[at].node->object);
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
