// tests/programs/reuse_race/main.cpp — random programs over the driver API that free memory while
// queued work uses it, and allocate it again: nothing queued may ever use a block that is handed
// out.
//
// Usage: reuse_race [--seed N] [--count N] [--steps N] [--threads N] [--plant HOW]
// HOW: no_wait, overlap, clobber: then it goes wrong, and must see it. On the simulated GPU. Ends 1
// at the first violation; else prints what it did, as key=value.
#include <dlfcn.h>
#include <string_view>
#include <thread>

#include "tests/programs/reuse_race/actor.hpp"
#include "tools/simgpu/simgpu.h"

using namespace reuse_race;

namespace {

struct Options {
    unsigned seed = 1;
    unsigned count = 10;
    unsigned steps = 400;
    unsigned threads = 1;
    Plant plant = Plant::nothing;
};

Plant plant_named(std::string_view name)
{
    if (name == "no_wait")
        return Plant::no_wait;
    return name == "overlap" ? Plant::overlap : Plant::clobber;
}

Options parse(int argc, char** argv)
{
    Options options;
    for (int index = 1; index + 1 < argc; index += 2) {
        const std::string_view name = argv[index];
        const char* const value = argv[index + 1];
        const auto number = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
        if (name == "--seed")
            options.seed = number;
        else if (name == "--count")
            options.count = number;
        else if (name == "--steps")
            options.steps = number;
        else if (name == "--threads")
            options.threads = number;
        else if (name == "--plant")
            options.plant = plant_named(value);
        else
            fail("no option %s", argv[index]);
    }
    return options;
}

// One seed: all actors' steps, with a change of contexts in between.
void play(World& world, std::vector<Actor*>& actors, const Options& options, unsigned seed)
{
    std::mt19937 random(seed);
    for (unsigned part = 0; part < 2; ++part) {
        const auto steps = [&](Actor* actor) {
            actor->begin(seed * 2 + part);
            for (unsigned step = 0; step < options.steps / 2; ++step)
                actor->step();
        };
        std::vector<std::thread> threads;
        for (std::size_t index = 1; index < actors.size(); ++index)
            threads.emplace_back(steps, actors[index]);
        steps(actors[0]);
        for (std::thread& thread : threads)
            thread.join();
        change_contexts(world, actors, random);
    }
    clean_up(world);
}

void print_counts(const Counts& counts)
{
    const auto calls =
        reinterpret_cast<decltype(&simgpu_call_count)>(dlsym(RTLD_DEFAULT, "simgpu_call_count"));
    std::printf("allocations=%u driver_allocations=%llu refused=%u busy_frees=%u stream_frees=%u "
                "operations=%u captures=%u launches=%u contexts=%u\n",
                counts.allocations.load(), calls("cuMemAlloc_v2"), counts.refused.load(),
                counts.busy_frees.load(), counts.stream_frees.load(), counts.operations.load(),
                counts.captures.load(), counts.launches.load(), counts.contexts.load());
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = parse(argc, argv);
    World world(options.plant);
    std::vector<std::unique_ptr<Actor>> owned;
    std::vector<Actor*> actors;
    for (unsigned number = 0; number < options.threads; ++number) {
        owned.push_back(std::make_unique<Actor>(world, number));
        actors.push_back(owned.back().get());
    }
    for (unsigned seed = options.seed; seed < options.seed + options.count; ++seed)
        play(world, actors, options, seed);
    print_counts(world.counts);
    return 0;
}
