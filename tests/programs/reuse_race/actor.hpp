// tests/programs/reuse_race/actor.hpp — one thread's random steps: allocate, use, free, wait,
// capture.
//
// Everything it does is valid CUDA: memory is freed while queued work still uses it, but no work is
// queued for freed memory. The seed decides all of it.
#pragma once

#include "tests/programs/reuse_race/world.hpp"

namespace reuse_race {

// A stream, and the context that must be current to use it.
struct Lane {
    CUstream stream = nullptr; // created, or one of the default streams' handles
    unsigned place = 0;
    bool owned = false;
};

class Actor {
public:
    Actor(World& world, unsigned number);

    // Between seeds: `number` of the actor is part of its random numbers.
    void begin(unsigned seed);
    void step();
    // What it had queued goes on; its streams are gone.
    void close_lanes(unsigned place);
    void open_lanes(unsigned place);

private:
    friend void change_contexts(World& world, std::vector<Actor*>& actors, std::mt19937& random);

    unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
    const Lane& any_lane();
    const Lane& lane_at(unsigned place);
    const Lane& enter_lane(const Lane& lane);

    void allocate();
    void use();
    void use_in(const Lane& lane, Block& block);
    void use_abroad(const Lane& lane, Block& block);
    void copy_to_scratch(const Lane& lane, const Block& from);
    void launch_kernel(const Lane& lane, const Block& block);
    void free_now();
    void free_in_order();
    void synchronise();
    void wait_for_others();
    void change_lane();
    void enable_peer();
    void capture();
    void capture_work(const Lane& lane, Graph& graph);
    void capture_forbidden(const Lane& lane);
    void launch_graph();
    void drop_graph();

    World& world_;
    unsigned number_;
    std::mt19937 random_;
    std::vector<Lane> lanes_;
};

// A context ends, with what it owns, and another takes its place. Nobody else may be at work.
void change_contexts(World& world, std::vector<Actor*>& actors, std::mt19937& random);
// Between seeds: everything is waited for, checked and freed.
void clean_up(World& world);

} // namespace reuse_race
