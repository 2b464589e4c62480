// tracker/environment/rank.hpp — which process of a parallel job this is.
//
// The variables that launchers set tell it. A launcher speaks where its rank variable holds a
// number; the first that does is believed. What is no small number, in any of its variables,
// is not told.
#pragma once

namespace vramscope::log {

struct Rank {
    const char* launcher = nullptr; // null: no launcher spoke, and the others are null too
    const char* rank = nullptr;
    const char* local_rank = nullptr; // null: not told
    const char* world_size = nullptr;
};

// The texts are those of the environment.
Rank find_rank(const char* (*environment)(const char* name)) noexcept;

} // namespace vramscope::log
