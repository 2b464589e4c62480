// tracker/environment/rank.hpp — which process of a parallel job this is.
//
// The variables that launchers set tell it. The first launcher whose rank variable holds a number
// is believed. A variable of that launcher that does not hold a small number is left out.
#pragma once

namespace vramscope::log {

struct Rank {
    const char* launcher = nullptr; // null: no launcher was found, and the others are null too
    const char* rank = nullptr;
    const char* local_rank = nullptr; // null: the launcher does not tell it
    const char* world_size = nullptr;
    const char* local_world_size = nullptr; // how many ranks its node has; null as above
};

// What the batch system, or else the launcher, calls the job; null: nobody named it.
const char* find_job(const char* (*environment)(const char* name)) noexcept;

// The texts point into the environment.
Rank find_rank(const char* (*environment)(const char* name)) noexcept;

} // namespace vramscope::log
