// interpose/pool/address_tree.hpp — segments in the order of their addresses.
//
// It answers questions about any address: a treap through links in the records themselves.
// Nodes gives address(i), and left(i) and right(i) as references, of record i. Priorities are
// hashes of the addresses, so that the depth is about 2 ln n whatever comes. Iterative: a
// hook's stack is short.
#pragma once

#include <cstdint>

#include "interpose/pool/slab.hpp"

namespace vramscope::pool {

template <class Nodes>
class AddressTree {
public:
    explicit AddressTree(Nodes nodes) noexcept : nodes_(nodes) {}

    void clear() noexcept { root_ = 0; }

    // Its address is not in the tree yet.
    void insert(Index node) noexcept
    {
        const std::uint64_t address = nodes_.address(node);
        Index* link = &root_;
        while (*link && priority(*link) >= priority(node))
            link = nodes_.address(*link) < address ? &nodes_.right(*link) : &nodes_.left(*link);
        Index below = *link;
        *link = node;
        Index* less = &nodes_.left(node);
        Index* more = &nodes_.right(node);
        while (below) { // hang what is below to either side
            if (nodes_.address(below) < address) {
                *less = below;
                less = &nodes_.right(below);
                below = *less;
            } else {
                *more = below;
                more = &nodes_.left(below);
                below = *more;
            }
        }
        *less = *more = 0;
    }

    // It is in the tree.
    void erase(Index node) noexcept
    {
        const std::uint64_t address = nodes_.address(node);
        Index* link = &root_;
        while (*link != node)
            link = nodes_.address(*link) < address ? &nodes_.right(*link) : &nodes_.left(*link);
        Index less = nodes_.left(node), more = nodes_.right(node);
        while (less && more) {
            if (priority(less) >= priority(more)) {
                *link = less;
                link = &nodes_.right(less);
                less = *link;
            } else {
                *link = more;
                link = &nodes_.left(more);
                more = *link;
            }
        }
        *link = less ? less : more;
    }

    // The last record at or before the address; 0: none.
    Index at_or_before(std::uint64_t address) const noexcept
    {
        Index best = 0;
        for (Index node = root_; node;) {
            if (nodes_.address(node) <= address) {
                best = node;
                node = nodes_.right(node);
            } else {
                node = nodes_.left(node);
            }
        }
        return best;
    }

private:
    std::uint64_t priority(Index node) const noexcept
    {
        std::uint64_t hash = nodes_.address(node) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        return hash * 0x9e3779b97f4a7c15u;
    }

    Nodes nodes_;
    Index root_ = 0;
};

} // namespace vramscope::pool
