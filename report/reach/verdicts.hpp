// report/reach/verdicts.hpp — what a search for holders says of each wanted block.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/model/reach.hpp"
#include "report/reach/holder_search.hpp"
#include "report/reach/holder_steps.hpp"
#include "report/reach/python_garbage.hpp"

namespace vramscope::report {

struct BlockVerdict {
    Reached verdict = Reached::lost;
    ReachDoubt doubt = ReachDoubt::none;
    HolderSteps chain;
};

class Verdicts {
public:
    Verdicts(const ProcessMemory& memory, const MemoryMap& map, const ModuleNames& modules,
             const PythonMemory* python, const HolderSearch& search);

    BlockVerdict of(std::size_t wanted);

private:
    struct KnownWays {
        std::vector<Holders::Way> ways;
        std::unordered_map<NodeId, HolderSteps> chains; // to some holders
    };
    HolderSteps chain(NodeId held, KnownWays& known) const;
    void tell_garbage(BlockVerdict& said, NodeId block) const;
    HolderSteps unheld_blocks(NodeId block) const;
    // A holder, and where in it what is held next is.
    struct ChainLink {
        const Node* node;
        Address word;
        NodeId id;
    };
    std::optional<ChainLink> link_to(NodeId held, const std::vector<Holders::Way>& ways) const;
    void add_link(HolderSteps& steps, NodeId held, const std::vector<Holders::Way>& ways) const;
    bool is_attributes(const ChainLink& object, const ChainLink& dict) const;
    std::string root_name(const Node& root, Address word) const;
    std::string block_name(const Node& block) const;

    struct Step {
        Proof proof;
        Reached verdict;
        ReachDoubt doubt;
    };
    static constexpr std::array<Step, 7> kSteps{{
        {{false, false, false, ByType::surely}, Reached::held, ReachDoubt::none},
        {{false, false, false, ByType::all}, Reached::held, ReachDoubt::none},
        {{false, false, false, ByType::steps}, Reached::held, ReachDoubt::none},
        {{false, false}, Reached::possibly, ReachDoubt::shape},
        {{true, false}, Reached::possibly, ReachDoubt::interior},
        {{false, true}, Reached::possibly, ReachDoubt::shape},
        {{true, true}, Reached::possibly, ReachDoubt::shape},
    }};

    const ProcessMemory& memory_;
    const MemoryMap& map_;
    const ModuleNames& modules_;
    const PythonMemory* const python_; // null: there is no interpreter that is known
    const HolderSearch& search_;
    std::vector<KnownWays> ways_;               // for each of kSteps
    std::vector<std::vector<NodeId>> pointing_; // to each wanted block, that are blocks
    std::unique_ptr<GarbageOfPython> garbage_;  // null: there is no interpreter that is known
};

} // namespace vramscope::report
