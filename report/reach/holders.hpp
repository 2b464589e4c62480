// report/reach/holders.hpp — who holds whom: the wanted blocks, what points to them, and so on up.
//
// A node is a wanted block, a block of the heap, or a root: a word that counts by itself. Links
// lead down, from what holds to what is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "report/reach/memory/process_memory.hpp"
#include "report/reach/memory/used_words.hpp"

namespace vramscope::report {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

enum class RootKind {
    none, // a block
    python_module,
    python_local,
    python_temporary, // of a function that runs: it may be left over
    variable,
    thread_local_,
    stack,
    register_,
    mapped,
    unknown, // it proves little: memory of unknown shape
};

struct Link {
    NodeId to = kNoNode;
    Address word = 0;   // where the pointer is, in the holder
    bool exact = false; // it points to the beginning
    bool owns = false;  // as Python's objects do: an object's beginning, or a part of the holder
};

struct Node : AddressSpan { // what a pointer to it may be
    RootKind root = RootKind::none;
    Address object = 0;       // of Python: it begins there; 0: it is none, as far as is known
    std::uint32_t thread = 0; // index, of a stack, a thread-local or a register
    UsedWords used{};
    std::vector<Link> down;
    // In a program of Python, an object that may have pointers to anything: of a class of C++ with
    // virtual functions, or of a type that is none of the interpreter's own.
    bool is_foreign = false;
};

// Ways to objects of Python that prove more: only what owns them, or a part, leads there. A word of
// which some bytes are left over, as in padding, may point into a block, and owns nothing.
enum class ByType {
    none,
    steps,  // by other objects and their parts
    all,    // and from its own variables and locals
    surely, // and by no block of unknown type
};

// What may lead to a block.
struct Proof {
    bool interior;         // pointers into a wanted block, too
    bool unknown;          // memory of unknown shape, too
    bool left_over = true; // words outside of what a node uses, too
    ByType by_type = ByType::none;
};

class Holders {
public:
    // Wanted blocks are the first nodes, in this order.
    explicit Holders(const std::vector<AddressSpan>& wanted);

    std::size_t wanted() const { return wanted_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    std::optional<NodeId> known_block(Address begin) const;

    NodeId add(const Node& node);
    void set_used(NodeId node, const UsedWords& used) { nodes_[node].used = used; }
    void link(NodeId holder, const Link& link) { nodes_[holder].down.push_back(link); }

    // A block of the heap that is no object of Python and no part of one, as far as is known.
    static bool is_of_unknown_type(const Node& node);
    // In a part of the node that it does not use.
    static bool is_left_over(const Node& node, const Link& link);

    // For each node the link that leads to it from a root, over the fewest steps; roots of a kind
    // before that of the next. In a program of Python its own variables and objects come first, and
    // foreign objects: a word of other memory may be left over. A root leads to itself.
    struct Way {
        NodeId from = kNoNode; // no root leads here
        Link link;
    };
    std::vector<Way> ways(const Proof& proof) const;

    bool all_have(const std::vector<Way>& ways) const; // each wanted block

    // Which nodes lead down to a wanted block that has no way yet.
    std::vector<char> lead_to_unproven(const std::vector<Way>& ways) const;

private:
    bool counts(const Node& holder, const Link& link, const Proof& proof) const;
    unsigned cost_of_root(const Node& node) const;
    unsigned cost_of_step(const Node& holder, const Link& link) const;

    std::size_t wanted_;
    bool has_objects_ = false;
    std::vector<Node> nodes_;
    std::map<Address, NodeId> blocks_; // of the heap, by their beginning
};

} // namespace vramscope::report
