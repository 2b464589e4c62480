// report/reach/verdicts.hpp — what a search for holders says of each wanted block.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "report/model/reach.hpp"
#include "report/reach/holder_search.hpp"

namespace vramscope::report {

class Verdicts {
public:
    Verdicts(const ProcessMemory& memory, const MemoryMap& map, const ModuleNames& modules,
             const HolderSearch& search);

    ReachGroup of(std::size_t wanted) const; // without its sum

private:
    std::vector<std::string> chain(NodeId block, const std::vector<Holders::Way>& ways) const;
    std::vector<std::string> unheld_blocks(NodeId block) const;
    std::string root_name(const Node& root, Address word) const;
    std::string block_name(const Node& block) const;

    struct Step {
        Proof proof;
        Reached verdict;
        ReachDoubt doubt;
    };
    static constexpr std::array<Step, 4> kSteps{{
        {{false, false}, Reached::held, ReachDoubt::none},
        {{true, false}, Reached::possibly, ReachDoubt::interior},
        {{false, true}, Reached::possibly, ReachDoubt::shape},
        {{true, true}, Reached::possibly, ReachDoubt::shape},
    }};

    const ProcessMemory& memory_;
    const MemoryMap& map_;
    const ModuleNames& modules_;
    const HolderSearch& search_;
    std::vector<std::vector<Holders::Way>> ways_; // for each of kSteps
    std::vector<std::vector<NodeId>> pointing_;   // to each wanted block, that are blocks
};

} // namespace vramscope::report
