// report/symbols/dwarf_entries.hpp — a walk over the entries below one of DWARF's, in their order.
//
// Bounded by the file's size, whatever the entries say of each other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <elfutils/libdw.h>

namespace vramscope::report {

// Calls `visit(entry, outer)` for each entry in the tree below `root`. It answers with what is
// `outer` to the entries below, or with nothing where they are of no interest.
template <typename Outer, typename Visit>
void walk_entries(Dwarf_Die root, Outer outermost, Visit visit)
{
    constexpr std::size_t kMaxDepth = 1024; // nested entries; real code stays below 100
    struct Level {
        Dwarf_Die entry; // the next one to visit here
        Outer outer;
    };
    std::vector<Level> levels(1, Level{{}, outermost});
    // Entries lie in the file in the order of this walk; one that is not further on than the last
    // was reached by a false sibling reference, and following those could take for ever.
    Dwarf_Off last = dwarf_dieoffset(&root);
    if (dwarf_child(&root, &levels.back().entry) != 0)
        levels.clear();
    while (!levels.empty()) {
        Level& level = levels.back();
        if (dwarf_dieoffset(&level.entry) <= last) {
            levels.pop_back();
            continue;
        }
        last = dwarf_dieoffset(&level.entry);
        const std::optional<Outer> inside = visit(level.entry, level.outer);
        Level below{{}, inside.value_or(level.outer)};
        const bool descend = inside.has_value() && levels.size() < kMaxDepth &&
                             dwarf_child(&level.entry, &below.entry) == 0;
        if (dwarf_siblingof(&level.entry, &level.entry) != 0)
            levels.pop_back();
        if (descend)
            levels.push_back(below);
    }
}

} // namespace vramscope::report
