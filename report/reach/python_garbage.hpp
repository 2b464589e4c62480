// report/reach/python_garbage.hpp — cycles of Python's objects that nothing leads to.
//
// They are what `gc.collect()` frees: each object in them has as many references as were found.
// Where one has more, somebody who was not seen holds it, or a count is wrong, and it stays.
#pragma once

#include <string>
#include <vector>

#include "report/reach/holders.hpp"
#include "report/reach/python/python_memory.hpp"

namespace vramscope::report {

class GarbageOfPython {
public:
    GarbageOfPython(const Holders& holders, const PythonMemory& python);

    // Of a block that nothing leads to, or nothing that surely counts: "a cycle of Trainer and Step
    // that gc.collect() would free"; "": no such cycle holds it.
    std::string of(NodeId block) const;

private:
    std::vector<NodeId> all_above(NodeId block) const;
    bool leads_to_itself(NodeId node) const;

    const Holders& holders_;
    const PythonMemory& python_;
    std::vector<std::vector<NodeId>> up_;
    std::vector<std::uint64_t> references_; // of objects of Python, that were found to each node
};

} // namespace vramscope::report
