// report/reach/verdicts.hpp — what a search for holders says of each wanted block.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "report/model/reach.hpp"
#include "report/reach/holder_search.hpp"
#include "report/reach/python_garbage.hpp"

namespace vramscope::report {

class Verdicts {
public:
    Verdicts(const ProcessMemory& memory, const MemoryMap& map, const ModuleNames& modules,
             const PythonMemory* python, const HolderSearch& search);

    ReachGroup of(std::size_t wanted) const; // without its sum

private:
    std::vector<std::string> chain(NodeId block, const std::vector<Holders::Way>& ways) const;
    void tell_garbage(ReachGroup& group, NodeId block) const;
    std::vector<std::string> unheld_blocks(NodeId block) const;
    // A holder, and where in it what is held next is.
    struct ChainLink {
        const Node* node;
        Address word;
    };
    void add_link(std::vector<std::string>& texts, const std::vector<ChainLink>& links,
                  std::size_t at) const;
    bool is_attributes(const std::vector<ChainLink>& links, std::size_t at) const;
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
    std::vector<std::vector<Holders::Way>> ways_; // for each of kSteps
    std::vector<std::vector<NodeId>> pointing_;   // to each wanted block, that are blocks
    std::unique_ptr<GarbageOfPython> garbage_;    // null: there is no interpreter that is known
};

} // namespace vramscope::report
